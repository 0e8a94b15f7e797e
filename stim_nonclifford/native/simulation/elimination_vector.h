// A state of the simulation as stabilizers and the coefficients that are left (stabilizer_rows.h), as driver.h takes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "base/memory.h"
#include "base/not_a_number.h"
#include "cpu/kernels.h"
#include "plan/reduction/elimination_program.h"
#include "plan/reduction/stabilizer_rows.h"
#include "simulation/branch_row.h"
#include "simulation/simulation_work.h"

namespace snc {

// What an elimination knows of a path: the rows, the coefficients, and the Pauli of the measurement that was weighed last.
struct EliminationState {
    StabilizerRows rows;
    std::vector<double, Aligned<double>> coefficients;  // of the axes, if the program needs them
    std::vector<uint64_t> string_signs;
    std::vector<uint64_t> pauli;
    uint64_t axes = 0;
    uint32_t i_power = 0;
    int32_t lowest_bit = -1;  // of what is left of its Z string
    Operation on_index{};     // if nothing is left
    OutcomeWeights weights{};

    EliminationState() = default;
    explicit EliminationState(const EliminationProgram& program) : rows(program.num_qubits), string_signs(program.string_signs), pauli(program.pauli_words()) {
        if (!program.needs_coefficients()) return;
        coefficients.resize(vector_size(0));
        coefficients[0] = 1;
    }
    size_t bytes() const { return rows.bytes() + (string_signs.size() + pauli.size()) * sizeof(uint64_t) + coefficients.size() * sizeof(double); }
    // Whether the outcome that was weighed last is no fair coin and depends on coefficients.
    bool is_dense() const { return lowest_bit < 0 && (on_index.x | on_index.z) != 0; }
    bool is_certain() const {
        if (lowest_bit >= 0) return false;
        if (!is_dense()) return true;
        const double rounding = certain_at(rows.num_axes()), one = weights.one / (weights.zero + weights.one);
        return one < rounding || one > 1 - rounding;
    }
};

// A view of a path's state, for some steps.
class EliminationVector {
   public:
    EliminationVector(const EliminationProgram& program, const Kernels& kernels, const BranchRow& row, EliminationState& state,
                      double& probability_of_one, SimulationWork& work)
        : program_(program), kernels_(kernels), row_(row), state_(state), probability_of_one_(probability_of_one), work_(work) {}

    using Step = EliminationProgram::Step;
    size_t num_steps() const { return program_.steps.size(); }
    const Step& step(size_t number) const { return program_.steps[number]; }
    void begin(const Step&) {}
    void apply(const Step& step) {
        for (uint32_t k = step.first; k < step.end; ++k) {
            state_.i_power = program_.write_axis(k, state_.pauli.data());
            reduce();
            if (state_.lowest_bit >= 0) add_axis();
            const EliminationProgram::Rotation& by = program_.rotations[k];
            const Operation about = state_.rows.on_index(state_.pauli.data(), state_.i_power, state_.axes);
            const VectorRotation rotation{about.x, about.z, by.cosine, row_.has(by.sign) ? -by.sine : by.sine, about.width, about.i_power};
            const uint64_t size = uint64_t{1} << about.width;
            work_.note_pass(size, size, 4);
            kernels_.coefficients.rotate(state_.coefficients.data(), {&rotation, 1});
        }
    }
    void weigh(const Step& step) {
        state_.i_power = program_.write_pauli(step.first, row_.words().data(), state_.string_signs.data(), state_.pauli.data(), work_.elimination.strings);
        reduce();
        if (state_.lowest_bit >= 0) {
            probability_of_one_ = 0.5;
            return;
        }
        state_.on_index = state_.rows.on_index(state_.pauli.data(), state_.i_power, state_.axes);
        if (!state_.is_dense()) {
            probability_of_one_ = state_.on_index.i_power == 2 ? 1 : 0;
            return;
        }
        work_.note_pass(uint64_t{1} << state_.on_index.width, 0, 6);
        state_.weights = kernels_.coefficients.outcome_weights(state_.coefficients.data(), state_.on_index);
        probability_of_one_ = state_.weights.one / (state_.weights.zero + state_.weights.one);
        check_probability(probability_of_one_, step.end_operation - 1);
    }
    void project(const Step& step, bool outcome) {
        if (outcome) program_.flip_string_signs(step.first, state_.string_signs.data());
        if (state_.lowest_bit >= 0) {
            ++work_.elimination.coins;
            state_.rows.add(state_.pauli.data(), state_.i_power + (outcome ? 2 : 0), state_.axes, state_.lowest_bit);
        } else if (state_.is_dense()) {
            const uint64_t size = uint64_t{1} << state_.on_index.width;
            work_.note_pass(size, size / 2, 3);
            double* const vector = state_.coefficients.data();
            kernels_.coefficients.project(vector, vector, state_.on_index, outcome, outcome ? state_.weights.one : state_.weights.zero);
            state_.coefficients.resize(vector_size(state_.on_index.width - 1));
            state_.rows.project(state_.pauli.data(), state_.i_power, state_.on_index, outcome, work_.elimination.products);
        }
    }

   private:
    void reduce() { state_.lowest_bit = state_.rows.reduce(state_.pauli.data(), state_.i_power, state_.axes, work_.elimination.products); }
    void add_axis() {
        const auto width = static_cast<int32_t>(state_.rows.num_axes());
        if (width >= max_addressed_width) throw std::bad_alloc();
        state_.rows.add_axis(state_.pauli.data(), state_.lowest_bit);
        state_.axes |= uint64_t{1} << width;
        // The new half is 0; it may lie within a block.
        state_.coefficients.resize(vector_size(width + 1));
        if (width < index_lane_bits)
            for (double* part = state_.coefficients.data(); part <= state_.coefficients.data() + lanes_of_block; part += lanes_of_block)
                std::fill_n(part + (1 << width), 1 << width, 0.0);
    }
    static constexpr size_t lanes_of_block = size_t{1} << index_lane_bits;

    const EliminationProgram& program_;
    const Kernels& kernels_;
    const BranchRow& row_;
    EliminationState& state_;
    double& probability_of_one_;
    SimulationWork& work_;
};

}  // namespace snc
