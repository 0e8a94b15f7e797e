// A circuit as steps (compiler/program/steps.py), in the form in which the sweeps follow it. Loops are not unrolled: the steps of
// their first iteration are stored, and those of the others differ in the numbers of records, detectors and chains of errors alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "algebra/sparse_rows.h"

namespace snc {

// A Pauli on one qubit: bit 0 of the code is its X part, bit 1 its Z part.
constexpr uint32_t x_part = 1, z_part = 2, y_code = 3;
struct QubitPauli {
    uint32_t qubit, code;
    bool operator==(const QubitPauli&) const = default;
};

using Factors = std::span<const QubitPauli>;

// Called after every so many steps of a sweep with the number of the step; may throw.
using Progress = std::function<void(int64_t step)>;
constexpr int64_t steps_per_report = 256;

// Whether two products of Paulis, each with every qubit at most once, anticommute.
bool anticommute(Factors a, Factors b);

// The image of a generator: a product of Paulis on the targets of a gate.
struct GeneratorImage {
    std::vector<QubitPauli> factors;  // places of targets
    bool is_negative;
};

// Generator 2k is X on target k, generator 2k+1 is Z on it.
struct GateTables {
    // `images`: for each generator the generators whose product is its image under the inverse gate, and 2 num_targets if that
    // has a minus sign; ascending (CliffordGate.inverse_images). Throws std::invalid_argument unless they are.
    static GateTables of(size_t num_targets, std::span<const RowView> images);

    size_t num_targets;
    std::vector<GeneratorImage> inverse;          // images of the generators under the inverse gate
    std::vector<std::vector<uint32_t>> pullback;  // the generators in their images under the gate; empty for Pauli gates
};

// A pattern, with its rate if it is independent of others, or its probability if it excludes others.
struct ChannelChoice {
    uint64_t pattern;
    double amount;
};

// Its rates, and the choices at its site: [first_rate, first_choice) and [first_choice, end) of all choices.
struct Channel {
    uint64_t constant, first_rate, first_choice, end;
};

struct ChannelTables {
    uint64_t constant;
    std::span<const ChannelChoice> rates, site;
};

enum class CircuitStepKind : int32_t {
    clifford,
    rotate,
    measure,
    reset,
    feedback,
    noise,
    correlated_error,
    detector,
    observable,
    expectation,
    misreading,
    // In programs for trajectories only (program_arrays.py); the sweeps have channels with ancillas in their place, and scripts.
    relaxation,
    leaking,
    leakage_return,
    leakage_spread,
    leakage_herald,
    leaked_flip,
    meeting,
    skip,
    begin_attempts,
    accept,
    end_block,
    turn,               // by an angle that is the same for all of a shot
    absence,            // what is before the matching end_block does not happen if one of these qubits is leaked or lost
    leaking_from_ones,
};

struct CircuitStep {
    double amount;                        // the half-turns of a rotation; the probability of an error, a decay, or what leakage does; p01
    double second_amount;                 // the probability that no error of a chain happens, or of a Z after a decay; p10
    int64_t record;                       // of a measurement or feedback; the first herald of noise; how many come before an attempt; or -1
    CircuitStepKind kind;
    int32_t number;                       // of the gate or channel (of readout noise; -1 for none); of a chain, detector, observable or turn; 1 for a loss, leakage that moves, or a return to |1>; how many detectors come before an attempt
    uint32_t group_size;
    uint32_t first, end;                  // of targets (gates and noise)
    uint32_t first_factor, end_factor;
    uint32_t first_record, end_record;    // of the records that a detector, an observable or a condition sums
    uint8_t is_inverted, resets;          // of measurements; the Pauli of an expectation value has a minus sign
};

// What the numbers in a step are in a later iteration.
struct Shift {
    int64_t records = 0, detectors = 0, chains = 0;
};

// The stored steps from `first` to `end` are one iteration.
struct CircuitLoop {
    uint64_t first, end, repetitions;
    Shift shift;
};

// What a program is made of, as compiler/program/program_arrays.py writes it.
struct ProgramParts {
    uint32_t num_qubits, num_records, num_detectors, num_observables;
    std::vector<CircuitStep> steps;
    std::vector<uint32_t> targets;
    std::vector<QubitPauli> factors;
    std::vector<int64_t> records;
    std::vector<uint32_t> gate_sizes;  // numbers of targets
    SparseRows images;                 // of the generators of each gate
    std::vector<Channel> channels;
    std::vector<ChannelChoice> choices;
    std::vector<CircuitLoop> loops;    // in the order of their ends, inner ones first
};

class Program {
   public:
    // Checks the parts (program_checks.cc): std::invalid_argument says what is wrong.
    explicit Program(ProgramParts parts);

    const size_t num_qubits, num_records, num_detectors, num_observables;

    const GateTables& gate(const CircuitStep& step) const { return gates_[static_cast<size_t>(step.number)]; }
    ChannelTables channel(const CircuitStep& step) const {
        const Channel& found = parts_.channels[static_cast<size_t>(step.number)];
        return {found.constant, part(parts_.choices, found.first_rate, found.first_choice), part(parts_.choices, found.first_choice, found.end)};
    }
    std::span<const uint32_t> targets(const CircuitStep& step) const { return part(parts_.targets, step.first, step.end); }
    Factors factors(const CircuitStep& step) const { return part(parts_.factors, step.first_factor, step.end_factor); }
    std::span<const int64_t> records(const CircuitStep& step) const { return part(parts_.records, step.first_record, step.end_record); }

    size_t size() const;  // number of steps, with loops unrolled
    size_t num_stored_steps() const { return parts_.steps.size(); }
    size_t stored_number(const CircuitStep& step) const { return static_cast<size_t>(&step - parts_.steps.data()); }
    size_t num_gates() const { return gates_.size(); }
    const GateTables& gate(size_t number) const { return gates_[number]; }
    // With loops unrolled:
    size_t num_expectations() const { return count(CircuitStepKind::expectation); }
    size_t num_readout_decays() const { return count(CircuitStepKind::misreading); }
    // Calls use(step, number of the step, shift) for all steps in order, or from the last one to the first one.
    template <typename Use>
    void forward(Use&& use) const {
        int64_t number = 0;
        follow<true>(0, parts_.steps.size(), parts_.loops.size(), {}, number, use);
    }
    template <typename Use>
    void backward(Use&& use) const {
        int64_t number = static_cast<int64_t>(size()) - 1;
        follow<false>(0, parts_.steps.size(), parts_.loops.size(), {}, number, use);
    }

    // The steps of the outermost loops, numbered with loops unrolled, in order.
    struct OuterLoop {
        int64_t first, end;
        uint64_t repetitions;
    };
    std::vector<OuterLoop> outer_loops() const;

    // Throws unless all factors are X, Y or Z on qubits of the program, and all records are its own.
    void check_factors(Factors factors) const;
    void check_records(std::span<const int64_t> records) const;

    // The detectors, and then the observables, for which the sum of their records is odd.
    std::vector<int32_t> odd_outputs(std::span<const uint8_t> records) const;
    // For each group of qubits that gates, rotations and measurements connect, its qubits, ascending.
    std::vector<std::vector<uint32_t>> connected_qubits() const;

   private:
    size_t count(CircuitStepKind kind) const;  // of steps, with loops unrolled
    void check_parts() const;
    void add_gates();
    void check(const CircuitStep& step) const;
    void check_targets(const CircuitStep& step, size_t group_size) const;
    // Checks loop k, and extends the reach of its steps: what is added to their numbers in the last iteration of their loops.
    void check_loop(size_t k, std::vector<Shift>& reach) const;
    // The last record of a step in the first iteration of its loops, or -1.
    int64_t last_record(const CircuitStep& step) const;

    template <typename T>
    static std::span<const T> part(const std::vector<T>& all, uint64_t first, uint64_t end) {
        return {all.data() + first, static_cast<size_t>(end - first)};
    }
    size_t size_of(size_t first, size_t end, size_t num_loops) const;
    // The outermost loops among the first `num_loops` that lie between `first` and `end`, the last one first.
    std::vector<size_t> outermost(size_t first, size_t end, size_t num_loops) const;
    template <bool is_forward, typename Use>
    void follow(size_t first, size_t end, size_t num_loops, Shift shift, int64_t& number, Use& use) const;

    ProgramParts parts_;
    std::vector<GateTables> gates_;
    std::vector<size_t> loop_sizes_;  // steps of one iteration, with inner loops unrolled
};

template <bool is_forward, typename Use>
void Program::follow(size_t first, size_t end, size_t num_loops, Shift shift, int64_t& number, Use& use) const {
    std::vector<size_t> outer = outermost(first, end, num_loops);
    if (is_forward) std::ranges::reverse(outer);
    const auto plain = [&](size_t from, size_t to) {
        for (size_t k = 0; k < to - from; ++k) {
            use(parts_.steps[is_forward ? from + k : to - 1 - k], number, shift);
            number += is_forward ? 1 : -1;
        }
    };
    size_t place = is_forward ? first : end;
    for (const size_t k : outer) {
        const CircuitLoop& loop = parts_.loops[k];
        if (is_forward)
            plain(place, loop.first);
        else
            plain(loop.end, place);
        for (uint64_t j = 0; j < loop.repetitions; ++j) {
            const auto iteration = static_cast<int64_t>(is_forward ? j : loop.repetitions - 1 - j);
            const Shift inside{shift.records + iteration * loop.shift.records,
                               shift.detectors + iteration * loop.shift.detectors,
                               shift.chains + iteration * loop.shift.chains};
            follow<is_forward>(loop.first, loop.end, k, inside, number, use);
        }
        place = is_forward ? loop.end : loop.first;
    }
    if (is_forward)
        plain(place, end);
    else
        plain(first, place);
}

}  // namespace snc
