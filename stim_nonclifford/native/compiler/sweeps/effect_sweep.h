// The state of the backward sweep (compiler/sweeps/backward_sweep.py): the effects of X and Z on each qubit and of each record at
// the current place of the circuit, and the effects of noise that were found so far.
//
// An effect is stored with its bits in descending order, because outputs get smaller on the way back: mostly, a new bit is
// appended. What the functions return is in ascending order.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "algebra/sparse_rows.h"
#include "compiler/program/program.h"
#include "compiler/sweeps/sign_choices.h"

namespace snc {

// What is inserted just before a step, and whose effect is kept: a Pauli, signs of rotations, and records.
struct InsertedBits {
    int64_t step;
    std::vector<QubitPauli> factors;
    std::vector<int32_t> signs;
    std::vector<int64_t> records;
};

class EffectSweep {
   public:
    // Bits of effects that may be added. Circuits with 10^4 rounds and a T state in each take a tenth of it, a few tenths of
    // a second. It grows quadratically where an error flips all later records.
    static constexpr uint64_t max_work = uint64_t{1} << 32;

    struct Question {
        bool by_records;   // whether the outputs are the records, or else detectors and observables
        bool with_noise;   // and with stabilizers
        bool with_faults;  // keeps the effect of every single fault
        std::vector<std::pair<int64_t, int32_t>> signs;  // step of a rotation, and the bit of its sign
        std::vector<InsertedBits> insertions;            // the last steps first
    };

    // A fault: a pattern of the channel of a step, on one group of targets, or a readout error (pattern 0).
    struct Faults {
        std::vector<int64_t> steps, groups, patterns, records, kept;  // record -1: none
    };

    // One error of a chain of mutually exclusive ones.
    struct Links {
        std::vector<int32_t> chains;
        std::vector<int64_t> kept;
        std::vector<double> probabilities;
    };

    // Follows the program from its end to its beginning. Throws std::bad_alloc if the effects take more than max_bytes.
    // The effects of the insertions are kept; in their order, their numbers are those of `kept_insertions`.
    EffectSweep(const Program& program, Question question, uint64_t max_bytes, const Progress& progress);

    const std::vector<int64_t>& kept_insertions() const { return kept_insertions_; }
    const Faults& faults() const { return faults_; }
    const Links& links() const { return links_; }
    // Adds mutually exclusive choices of kept effects (-1: no effect), and the kept effect that is always present.
    void add_choices(int64_t constant, std::span<const std::pair<int64_t, double>> choices);

    // Removes free signs from all effects: wherever a sign is set, the kept effect that belongs to it is added. Such an
    // effect flips its own sign before any other free sign. Returns the number of a pair that does not, or -1.
    int64_t fix_signs(std::span<const std::pair<int32_t, size_t>> free_signs);

    // The effects of noise: first those of independent causes, with their rates and site -1, then those at sites, with their
    // probabilities.
    struct Noise {
        SparseRows effects;
        std::vector<double> rates;
        std::vector<int32_t> sites;
    };
    Noise noise() const;
    SparseRow constant() const { return {constant_.rbegin(), constant_.rend()}; }
    SparseRows kept() const;
    size_t num_kept() const { return kept_.size(); }
    // Effects of stabilizers, which flip nothing that can be seen, in the order of the numbers whose bits they are.
    SparseRows stabilizers() const;

   private:
    void pull_back_through(const Program& program, const CircuitStep& step, int64_t number, const Shift& shift);
    void pull_back_through_gate(const GateTables& gate, std::span<const uint32_t> targets);
    void add_noise(const ChannelTables& channel, std::span<const uint32_t> targets, size_t group_size, int64_t first_herald);
    void add_faults(const ChannelTables& channel, std::span<const uint32_t> targets, size_t group_size, int64_t first_herald,
                    int64_t step);
    void measure(Factors factors, size_t record, bool resets);
    void flip_by_records(std::span<const int64_t> records, const Shift& shift, size_t output);
    void flip_by_anticommuting(Factors factors, int32_t bit);
    size_t keep(Factors factors, std::span<const int32_t> signs, std::span<const int64_t> records);
    void add_fault(int64_t step, size_t group, uint64_t pattern, Factors factors, int64_t record);

    // Appends rows with their bits in ascending order.
    template <typename Rows>
    static SparseRows ascending(const Rows& rows, SparseRows after = {});
    void flip(SparseRow& row, RowView by);
    SparseRow effect_of(Factors factors);
    void note_stabilizer(SparseRow effect);
    void add_patterns(const ChannelTables& channel);
    void add_site(const std::vector<std::pair<SparseRow, double>>& choices);
    // The effect of a pattern of `generators_`.
    const SparseRow& effect_of_pattern(uint64_t pattern);
    void check_bytes(uint64_t more);

    std::vector<SparseRow> x_effects_, z_effects_, record_effects_;
    const Question question_;
    std::unordered_map<int64_t, int32_t> sign_of_step_;
    const uint64_t max_bytes_;
    size_t expectation_ = 0;  // the output of the first expectation value after the current place
    uint64_t record_bytes_ = 0;
    uint64_t work_ = 0;

    std::vector<int64_t> kept_insertions_;
    Faults faults_;
    Links links_;

    SparseRow constant_;
    RowSums rates_;
    struct Sites {
        SparseRows rows;
        std::vector<double> probabilities;
        std::vector<int32_t> numbers;
        int32_t count = 0;
    } sites_;
    std::vector<SparseRow> kept_;
    std::set<SparseRow> stabilizers_;
    std::vector<SparseRow> stabilizer_rows_;  // in order, with signs fixed
    SignChoices choices_;

    // Scratch.
    std::vector<const SparseRow*> generators_;
    std::vector<SparseRow> after_;
    SparseRow sum_, pattern_sum_;
};

}  // namespace snc
