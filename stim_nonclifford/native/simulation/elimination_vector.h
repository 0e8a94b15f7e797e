// A state of the vector's simulation without a vector, as driver.h takes it: stabilizers of a plan whose outcomes need no coefficients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algebra/stabilizer_rows.h"
#include "plan/reduction/elimination_program.h"
#include "simulation/branch_row.h"

namespace snc {

// What an elimination knows of a path: the rows, and the Pauli of the measurement that was weighed last.
struct EliminationState {
    StabilizerRows rows;
    std::vector<uint64_t> pauli;
    uint32_t i_power = 0;
    int32_t lowest_bit = -1;  // of its Z string, which no row removes

    EliminationState() = default;
    explicit EliminationState(const EliminationProgram& program) : rows(program.num_qubits), pauli(2 * size_t{program.num_words}) {}
    size_t bytes() const { return rows.bytes() + pauli.size() * sizeof(uint64_t); }
};

// A view of a path's state, for some steps.
class EliminationVector {
   public:
    EliminationVector(const EliminationProgram& program, const BranchRow& row, EliminationState& state, double& probability_of_one,
                      EliminationWork& work)
        : program_(program), row_(row), state_(state), probability_of_one_(probability_of_one), work_(work) {}

    using Step = EliminationProgram::Measurement;
    size_t num_steps() const { return program_.measurements.size(); }
    const Step& step(size_t number) const { return program_.measurements[number]; }
    void begin(const Step&) {}
    void apply(const Step&) {}
    void weigh(const Step& step) {
        const auto number = static_cast<size_t>(&step - program_.measurements.data());
        state_.i_power = program_.write_pauli(number, row_.words().data(), state_.pauli.data(), work_.strings);
        state_.lowest_bit = state_.rows.reduce(state_.pauli.data(), state_.i_power, work_.products);
        probability_of_one_ = state_.lowest_bit >= 0 ? 0.5 : (state_.i_power & 2) != 0 ? 1 : 0;
    }
    void project(const Step&, bool outcome) {
        if (state_.lowest_bit < 0) return;
        ++work_.coins;
        state_.rows.add(state_.pauli.data(), state_.i_power + (outcome ? 2 : 0), state_.lowest_bit);
    }

   private:
    const EliminationProgram& program_;
    const BranchRow& row_;
    EliminationState& state_;
    double& probability_of_one_;
    EliminationWork& work_;
};

}  // namespace snc
