// The state of the backward sweep (compiler/backward_sweep.py): the effects of X and Z on each qubit and of each record at
// the current place of the circuit, and the effects of noise that were found so far.
//
// An effect is stored with its bits in descending order, because outputs get smaller on the way back: mostly, a new bit is
// appended. What the functions return is in ascending order.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sign_choices.h"
#include "sparse_rows.h"

namespace snc {

// A Pauli on one qubit: bit 0 of the code is its X part, bit 1 its Z part.
struct PauliFactor {
    uint32_t qubit, code;
};

class EffectSweep {
   public:
    using Factors = std::span<const PauliFactor>;
    using Choices = std::vector<std::pair<uint64_t, double>>;  // pattern and rate or probability

    // Throws std::bad_alloc if the effects take more than max_bytes. Stabilizers are collected if `with_stabilizers`.
    EffectSweep(size_t num_qubits, size_t num_records, uint64_t max_bytes, bool with_stabilizers);

    // Lets each record flip the output with its number.
    void report_records();

    // The gate with this pullback (CliffordGate.pullback), and the channel with these patterns (channels.Channel).
    uint32_t add_gate(std::vector<std::vector<uint32_t>> pullback);
    uint32_t add_channel(uint64_t constant, Choices rates, Choices site);

    // Each of these goes from behind an instruction to before it.
    void pull_back_through(uint32_t gate, std::span<const uint32_t> targets);
    void add_noise(uint32_t channel, uint32_t group_size, std::span<const uint32_t> targets, int64_t first_herald);
    void add_readout_noise(uint32_t channel, size_t record);
    void measure(Factors factors, size_t record, bool resets);
    void reset(PauliFactor factor);
    void add_feedback(size_t record, PauliFactor factor);
    void flip_by_records(std::span<const int64_t> records, int32_t output);
    void flip_by_anticommuting(Factors factors, int32_t bit);

    // Stores the effect of a Pauli, of rotation signs and of records at the current place, with the next number.
    size_t keep(Factors factors, std::span<const int32_t> signs, std::span<const int64_t> records);
    bool is_kept_empty(size_t number) const { return kept_[number].empty(); }
    // Adds mutually exclusive choices of kept effects (-1: no effect), and the kept effect that is always present.
    void add_choices(int64_t constant, std::span<const std::pair<int64_t, double>> choices);
    void end();  // at the beginning of the circuit

    // Removes free signs from all effects: wherever a sign is set, the kept effect that belongs to it is added. Such an
    // effect flips its own sign before any other free sign. Returns the number of a pair that does not, or -1.
    int64_t fix_signs(std::span<const std::pair<int32_t, size_t>> free_signs);

    // The effects of noise: first those of independent causes, with their rates and site -1, then those at sites, with their
    // probabilities.
    struct Noise {
        RowList effects;
        std::vector<double> rates;
        std::vector<int32_t> sites;
    };
    Noise noise() const;
    SparseRow constant() const { return {constant_.rbegin(), constant_.rend()}; }
    RowList kept() const { return ascending(kept_); }
    // Effects of stabilizers, which flip nothing that can be seen, in the order of the numbers whose bits they are.
    RowList stabilizers() const { return ascending(stabilizer_rows_); }

   private:
    struct Channel {
        uint64_t constant;
        Choices rates, site;
    };

    static RowList ascending(const std::vector<SparseRow>& rows);
    void flip(SparseRow& row, RowView by);
    SparseRow effect_of(Factors factors);
    void note_stabilizer(SparseRow effect);
    void add_patterns(const Channel& channel);
    void add_site(const std::vector<std::pair<SparseRow, double>>& choices);
    // The effect of a pattern of `generators_`.
    const SparseRow& effect_of_pattern(uint64_t pattern);
    void check_bytes(uint64_t more);

    std::vector<SparseRow> x_effects_, z_effects_, record_effects_;
    std::vector<std::vector<std::vector<uint32_t>>> gates_;
    std::vector<Channel> channels_;
    const uint64_t max_bytes_;
    const bool with_stabilizers_;
    uint64_t record_bytes_ = 0;

    SparseRow constant_;
    RowSums rates_;
    RowList site_rows_;
    std::vector<double> site_probabilities_;
    std::vector<int32_t> site_numbers_;
    int32_t num_sites_ = 0;
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
