// Stores outcome laws: for each signature, a tree of the outcomes of its measurements. All threads grow the trees as shots
// need them.
//
// A node stands for a sequence of outcomes, and for the MEASURE that comes next. A measurement whose outcome is certain has
// no node. A path ends in a leaf. Stored entries never change, so that readers take no lock. If two threads find the same
// node at the same time, one of them stores it, and the memory of the other one stays unused.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/arena.h"
#include "plan/plan.h"
#include "simulation/path_simulation.h"

namespace snc {

// Sizes of the store, and the work done so far. Statistics of several threads add up.
struct LawStatistics {
    uint64_t signatures = 0;    // signatures with a tree
    uint64_t nodes = 0;         // nodes and leaves of all trees
    uint64_t checkpoints = 0;      // stored vectors
    uint64_t bytes = 0;         // memory of the trees and the vectors
    uint64_t lookups = 0;       // shots whose outcomes were asked for
    uint64_t simulations = 0;   // those for which the coefficient vector was simulated
    SimulationWork work;        // of these simulations

    LawStatistics& operator+=(const LawStatistics& other);
};

class LawStore {
   public:
    LawStore(const Plan& plan, size_t max_bytes);
    ~LawStore();

    // A node or a leaf, or nothing.
    enum class Ref : uint32_t { none = 0 };

    struct Node {
        double probability_of_one;        // of MEASURE `outcome`
        int32_t outcome;
        // The number of its checkpoint, from 1 on; without one, minus the number of simulations that have passed.
        std::atomic<int32_t> checkpoint{0};
        std::array<std::atomic<Ref>, 2> children{};
    };

    static bool is_leaf(Ref ref) { return (static_cast<uint32_t>(ref) & leaf_bit) != 0; }
    Node& node(Ref ref) const { return *nodes_.at(static_cast<uint32_t>(ref) - 1); }
    static bool is_kept(Ref leaf) { return leaf != discarded_leaf; }
    static bool is_kept_without_flips(Ref leaf) { return leaf == kept_leaf; }
    // The outputs that the outcomes before a leaf flip, [output_words]; always this memory if none is flipped.
    const uint64_t* outputs_of(Ref leaf) const {
        if (leaf <= kept_leaf) return no_flips_.data();
        return leaf == certain_leaf ? zero_outputs_.data() : leaf_outputs_.at(static_cast<uint32_t>(leaf) - first_leaf);
    }
    const uint64_t* no_flips() const { return no_flips_.data(); }

    // Stores a place. Returns no reference if there is no room. `stop` is the place that a simulation has reached.
    Ref add(const PathSimulation::Stop& stop, const uint64_t* outputs);
    // Whether the place was empty.
    static bool add_child(Node& parent, bool outcome, Ref child) {
        Ref nothing = Ref::none;
        return parent.children[outcome].compare_exchange_strong(nothing, child, std::memory_order_release,
                                                                std::memory_order_relaxed);
    }

    // Signature 0 comes most often. Its root is not in the table.
    static bool is_zero(std::span<const uint64_t> signature) {
        return std::ranges::all_of(signature, [](uint64_t word) { return word == 0; });
    }
    // The leaf of all shots with signature 0 if all their outcomes are certain; it is their root then.
    Ref certain_zero_leaf() const { return certain_zero_leaf_; }
    // `stop` is the first place of signature 0 that is not certain, or its end, with these outputs. Call it before all others.
    void set_zero_law(const PathSimulation::Stop& stop, const uint64_t* outputs);
    Ref zero_root() const { return zero_root_.load(std::memory_order_acquire); }
    // The leaf of a shot with signature 0, if it follows from the leading bits of its first random number.
    static constexpr size_t num_zero_cells = 4096;
    Ref zero_leaf_of(size_t cell) const { return zero_leaves_[cell].load(std::memory_order_acquire); }
    void note_zero_leaf(Ref leaf, double low, double high);

    // The root of a signature; none if there is none.
    Ref find(std::span<const uint64_t> signature) const { return find(signature, hash_of(signature)); }
    Ref find(std::span<const uint64_t> signature, uint64_t hash) const;
    // Prefetches the memory that `find`, `node` or `outputs_of` will read. Returns the hash of the signature.
    uint64_t announce(std::span<const uint64_t> signature) const;
    void announce(Ref place) const {
        __builtin_prefetch(is_leaf(place) ? static_cast<const void*>(outputs_of(place)) : &node(place));
    }
    // Stores the root of a signature. Returns false if there is one already, or if there is no room.
    bool insert(std::span<const uint64_t> signature, Ref root);

    using Checkpoint = PathSimulation::Checkpoint;
    // The vector stored at a node, if there is one.
    const Checkpoint* checkpoint_at(const Node& node) const {
        const int32_t number = node.checkpoint.load(std::memory_order_acquire);
        return number > 0 ? *checkpoints_.at(static_cast<uint32_t>(number) - 1) : nullptr;
    }
    // Counts a simulation that passes a node. If the node is due for a checkpoint, and there is room for it, `make` returns
    // the checkpoint to store.
    void pass(Node& node, size_t bytes, const std::function<Checkpoint()>& make);

    // Frees old tables. No other thread may be reading.
    void forget_old_tables();
    // Without the work of simulations.
    LawStatistics statistics() const;

   private:
    using Word = std::atomic<uint64_t>;
    // Open addressing: each slot has a root (0: free), and the signature.
    struct Table {
        Table(size_t num_slots, size_t words_per_slot);
        Word* slot(size_t number) { return &words[number * slot_words]; }
        size_t bytes() const { return words.size() * sizeof(Word); }

        const size_t slots, slot_words;
        std::vector<Word, Aligned<Word>> words;
        std::atomic<size_t> used = 0;
    };
    static constexpr uint32_t leaf_bit = uint32_t{1} << 31, first_leaf = leaf_bit + 3;
    static constexpr Ref discarded_leaf{leaf_bit}, kept_leaf{leaf_bit + 1}, certain_leaf{leaf_bit + 2};
    // Marks a slot to which a thread is writing.
    static constexpr uint64_t busy = ~uint64_t{0};
    // Checkpoints are made where this many simulations have passed.
    static constexpr int32_t passes_before_checkpoint = 8;

    size_t slot_words() const { return 1 + signature_words_; }
    static uint64_t hash_of(std::span<const uint64_t> signature);
    static bool is_slot_of(const Word* slot, std::span<const uint64_t> signature);
    // Builds a larger table, if there is memory for it and no other thread is building one.
    void grow_table();
    static bool insert(Table& table, std::span<const uint64_t> signature, uint64_t root);

    const uint32_t signature_words_, output_words_;
    const std::vector<uint64_t> no_flips_;
    MemoryBudget budget_;
    Arena<Node> nodes_;
    Arena<uint64_t> leaf_outputs_;
    Arena<const Checkpoint*> checkpoints_;
    std::atomic<size_t> bytes_of_checkpoints_ = 0;

    std::atomic<Table*> table_ = nullptr;             // the newest table; threads may still read older ones
    std::vector<std::unique_ptr<Table>> tables_;
    std::mutex growing_;
    Ref certain_zero_leaf_ = Ref::none;
    std::vector<uint64_t> zero_outputs_;  // of the certain leaf
    std::atomic<Ref> zero_root_{Ref::none};
    std::array<std::atomic<Ref>, num_zero_cells> zero_leaves_{};
};

}  // namespace snc
