#include <nanobind/nanobind.h>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "compiler/sweeps/backward_sweep.h"
#include "kernels/shared/noise_draws.h"
#include "kernels/shared/philox.h"
#include "plan/plan.h"
#include "plan/plan_reduction.h"

// The constants that Python and C++ share, under the names that they have in Python.
void bind_constants(nanobind::module_& m) {
    m.attr("ROTATE") = static_cast<int32_t>(snc::Kind::rotate);
    m.attr("ACTIVATE") = static_cast<int32_t>(snc::Kind::activate);
    m.attr("MEASURE") = static_cast<int32_t>(snc::Kind::measure);
    m.attr("EXPECT") = static_cast<int32_t>(snc::Kind::expect);
    m.attr("MAX_EFFECT_WORK") = snc::max_effect_work;
    m.attr("BLOCK_SHOTS") = snc::block_shots;
    m.attr("CERTAIN") = snc::certain;
    m.def(
        "certain_at",
        [](uint32_t width) {
            snc::require(width <= 64, "width must be at most 64.");
            return snc::certain_at(width);
        },
        nanobind::arg("width"), "What rounding can do to the probability of an outcome of a vector of this width.");
    m.attr("TIE") = snc::tie;
    m.attr("MIN_MASS") = snc::OutcomeDecisions::min_mass;
    m.attr("COUNTS") = static_cast<uint64_t>(snc::Stream::counts);
    m.attr("EVENTS") = static_cast<uint64_t>(snc::Stream::events);
    m.attr("COINS") = static_cast<uint64_t>(snc::Stream::coins);
    m.attr("READOUTS") = static_cast<uint64_t>(snc::Stream::readouts);
    m.attr("LEAKAGE") = static_cast<uint64_t>(snc::Stream::leakage);
    m.attr("TRAJECTORY_LEAKAGE") = static_cast<uint64_t>(snc::Stream::trajectory_leakage);
    m.attr("TRAJECTORY_OUTCOMES") = static_cast<uint64_t>(snc::Stream::trajectory_outcomes);
    m.attr("TRAJECTORY_COINS") = static_cast<uint64_t>(snc::Stream::trajectory_coins);
    m.attr("TRAJECTORY_PAULIS") = static_cast<uint64_t>(snc::Stream::trajectory_paulis);
    m.attr("TRAJECTORY_STRUCTURE") = static_cast<uint64_t>(snc::Stream::trajectory_structure);
    m.attr("LEAKAGE_CHANGE") = static_cast<int32_t>(snc::leakage_change);
    m.attr("LEAKAGE_FLIP") = static_cast<int32_t>(snc::leakage_flip);
    m.attr("LEAKAGE_MIX") = static_cast<int32_t>(snc::leakage_mix);
    m.attr("LEAKAGE_END") = static_cast<int32_t>(snc::leakage_end);
    m.attr("LEAKAGE_SPREAD") = static_cast<int32_t>(snc::leakage_spread);
    m.attr("LEAKAGE_MOVE") = static_cast<int32_t>(snc::leakage_move);
    m.attr("OUTCOMES") = static_cast<uint64_t>(snc::Stream::outcomes);
    m.attr("SET_DRAWS") = static_cast<uint64_t>(snc::Stream::set_draws);
    m.attr("LEFT_PARTS") = static_cast<uint64_t>(snc::Stream::left_parts);
    m.attr("RIGHT_PARTS") = static_cast<uint64_t>(snc::Stream::right_parts);
    m.attr("ROUNDS") = static_cast<uint64_t>(snc::Stream::rounds);
    m.attr("MAX_INDEX_BITS") = 8 * sizeof(snc::Operation::x);
    m.attr("MAX_ELIMINATION_QUBITS") = snc::max_elimination_qubits;
}
