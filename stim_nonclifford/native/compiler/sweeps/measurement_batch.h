// Batches (compiler/sweeps/forward_sweep.py): measurements that commute, and the order in which they are done.
//
// With nothing between them that depends on their order, the next one is always one of those that activate the fewest
// coordinates. What a measurement activates depends on its patch alone, so that only one patch has to be looked at again
// after a measurement.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "compiler/program/program.h"

namespace snc {

class MeasurementBatch {
   public:
    struct Measurement {
        int64_t step;  // the number of the step
        Factors factors;
        int64_t record;
        bool is_inverted;
        uint32_t kind;  // the same for measurements of the same Pauli
        bool is_done;
    };

    explicit MeasurementBatch(size_t num_qubits) : on_(num_qubits), kinds_on_(num_qubits) {}

    bool empty() const { return measurements_.empty(); }
    size_t size() const { return measurements_.size(); }
    const Measurement& operator[](size_t place) const { return measurements_[place]; }
    size_t num_kinds() const { return kinds_.size(); }
    bool commutes_with(Factors factors) const;
    void add(int64_t step, Factors factors, int64_t record, bool is_inverted);
    void set_done(size_t place) { measurements_[place].is_done = true; }
    // Records of the measurements whose order with a Pauli that is inserted before a step has changed.
    std::vector<int64_t> reordered(int64_t step, Factors factors) const;
    void clear();

   private:
    std::vector<Measurement> measurements_;
    std::vector<Factors> kinds_;
    std::vector<std::vector<uint32_t>> on_;        // by qubit, the places of the measurements on it
    std::vector<std::vector<uint32_t>> kinds_on_;  // by qubit, the Paulis that are measured
};

// What a measurement takes, the most important number first.
struct MeasurementCost {
    size_t activated;  // coordinates
    bool is_coin;      // whether the outcome is a fair coin
    size_t rotations;  // that it needs
    auto operator<=>(const MeasurementCost&) const = default;
};

// The places of the measurements of a batch, the cheapest one first. Of those up to the first one that needs no rotations,
// the next one is the one of the least cost, and of several of the same cost the first one.
class MeasurementOrder {
   public:
    // The cost of a measurement, if it may be at most `least`. Rotations are 0 if it needs none.
    using CostOf = std::function<std::optional<MeasurementCost>(size_t place, const MeasurementCost& least)>;

    // Patches by place, all smaller than num_patches.
    MeasurementOrder(const MeasurementBatch& batch, std::vector<size_t> patches, size_t num_patches, CostOf cost_of);

    size_t next();
    // After it was done, and said whether its patch has changed.
    void remove(size_t place, bool has_changed);

   private:
    using Choice = std::pair<MeasurementCost, size_t>;  // cost and place

    // What a patch offers as the next measurement.
    struct Candidates {
        Choice best;             // among those up to the first one that needs no rotations
        std::optional<Choice> unhindered;  // the first one that needs no rotations
    };

    static constexpr size_t none = SIZE_MAX;

    std::optional<Candidates> candidates_among(size_t patch, size_t end);
    void look_at(size_t patch);
    bool is_current(const Choice& choice) const;
    bool is_unhindered(size_t place) const;

    template <typename T>
    using Ascending = std::priority_queue<T, std::vector<T>, std::greater<T>>;

    const MeasurementBatch& batch_;
    const std::vector<size_t> patches_;
    const CostOf cost_of_;
    std::vector<std::set<size_t>> first_;  // by patch, the first place that is left of each kind
    std::vector<size_t> following_;        // by place, the next one of the same kind
    std::vector<std::optional<MeasurementCost>> costs_;   // by kind, what is known since the patch has changed
    std::vector<std::vector<uint32_t>> known_;            // by patch, the kinds with known costs
    std::vector<std::optional<Candidates>> candidates_;  // by patch
    // Candidates that were the best ones of their patch at some time.
    Ascending<Choice> by_cost_;
    Ascending<size_t> unhindered_;
};

}  // namespace snc
