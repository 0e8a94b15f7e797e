#include "engine/laws/law_store.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace snc {

namespace {

constexpr size_t first_slots = 1024;

bool has_flips(std::span<const uint64_t> outputs) {
    return std::ranges::any_of(outputs, [](uint64_t word) { return word != 0; });
}

}  // namespace

LawStatistics& LawStatistics::operator+=(const LawStatistics& other) {
    signatures += other.signatures;
    nodes += other.nodes;
    checkpoints += other.checkpoints;
    bytes += other.bytes;
    lookups += other.lookups;
    simulations += other.simulations;
    work += other.work;
    return *this;
}

LawStore::LawStore(const Plan& plan, size_t max_bytes)
    : signature_words_(plan.layout.signature_words),
      output_words_(plan.layout.output_words),
      no_flips_(output_words_),
      budget_(max_bytes),
      nodes_(1, budget_),
      leaf_outputs_(output_words_, budget_),
      checkpoints_(1, budget_) {}

void LawStore::set_zero_law(const PathSimulation::Stop& stop, const uint64_t* outputs) {
    if (stop.outcome >= 0) return;
    zero_outputs_.assign(outputs, outputs + output_words_);
    zero_root_ = certain_zero_leaf_ = stop.outcome != PathSimulation::kept ? discarded_leaf : has_flips(zero_outputs_) ? certain_leaf : kept_leaf;
}

LawStore::~LawStore() {
    for (uint32_t k = 0; k < checkpoints_.size(); ++k) delete *checkpoints_.at(k);
}

LawStatistics LawStore::statistics() const {
    LawStatistics found;
    const Table* table = table_.load(std::memory_order_acquire);
    found.signatures = (table != nullptr ? table->used.load(std::memory_order_relaxed) : 0) + (certain_zero_leaf_ == Ref::none && zero_root() != Ref::none);
    found.nodes = nodes_.size() + leaf_outputs_.size();
    found.checkpoints = checkpoints_.size();
    found.bytes = budget_.used();
    return found;
}

// Nodes and leaves

LawStore::Ref LawStore::add(const PathSimulation::Stop& stop, const uint64_t* outputs) {
    if (stop.outcome == PathSimulation::discarded) return discarded_leaf;
    if (stop.outcome == PathSimulation::kept) {
        if (!has_flips({outputs, output_words_})) return kept_leaf;
        const uint32_t number = leaf_outputs_.take();
        if (number == leaf_outputs_.none) return Ref::none;
        std::copy_n(outputs, output_words_, leaf_outputs_.at(number));
        return Ref{first_leaf + number};
    }
    const uint32_t number = nodes_.take();
    if (number == nodes_.none) return Ref::none;
    new (nodes_.at(number)) Node{stop.probability_of_one, stop.outcome};
    return Ref{number + 1};
}

void LawStore::pass(Node& node, size_t bytes, const std::function<Checkpoint()>& make) {
    int32_t passed = node.checkpoint.load(std::memory_order_relaxed);
    if (passed > 0) return;
    if (passed > -passes_before_checkpoint) {
        if (!node.checkpoint.compare_exchange_strong(passed, passed - 1, std::memory_order_relaxed)) return;
        if (--passed > -passes_before_checkpoint) return;
    }
    // Read first: mostly there is no checkpoint, and threads that write to the same place wait for each other.
    const size_t most = budget_.limit() / 2;
    if (bytes_of_checkpoints_.load(std::memory_order_relaxed) + bytes > most || budget_.left() < bytes) return;
    if (bytes_of_checkpoints_.fetch_add(bytes) + bytes <= most) {
        const uint32_t number = checkpoints_.take();
        if (number != checkpoints_.none) *checkpoints_.at(number) = nullptr;
        if (number != checkpoints_.none && budget_.take(bytes, [&] { *checkpoints_.at(number) = new Checkpoint(make()); })) {
            node.checkpoint.compare_exchange_strong(passed, static_cast<int32_t>(number + 1), std::memory_order_release,
                                                 std::memory_order_relaxed);
            return;
        }
    }
    bytes_of_checkpoints_.fetch_sub(bytes);
}

void LawStore::note_zero_leaf(Ref leaf, double low, double high) {
    const auto end = static_cast<size_t>(high * num_zero_cells);
    for (auto k = static_cast<size_t>(std::ceil(low * num_zero_cells)); k < end; ++k)
        zero_leaves_[k].store(leaf, std::memory_order_release);
}

// Roots

LawStore::Table::Table(size_t num_slots, size_t words_per_slot)
    : slots(num_slots), slot_words(words_per_slot), words(slots * slot_words) {}

// Each bit of the hash depends on every bit of the key, as the table uses the low bits. It ends like SplitMix64.
uint64_t LawStore::hash_of(std::span<const uint64_t> signature) {
    uint64_t h = 0x9E3779B97F4A7C15;
    for (uint64_t word : signature) {
        h = (h ^ word) * 0xBF58476D1CE4E5B9;
        h ^= h >> 32;
    }
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9;
    h = (h ^ h >> 27) * 0x94D049BB133111EB;
    return h ^ h >> 31;
}

bool LawStore::is_slot_of(const Word* slot, std::span<const uint64_t> signature) {
    // Mostly a single word: a function call would take longer than the comparison.
    uint64_t differences = 0;
    for (size_t w = 0; w < signature.size(); ++w) differences |= signature[w] ^ slot[1 + w].load(std::memory_order_relaxed);
    return differences == 0;
}

uint64_t LawStore::announce(std::span<const uint64_t> signature) const {
    const uint64_t hash = hash_of(signature);
    Table* const table = table_.load(std::memory_order_acquire);
    if (table != nullptr) __builtin_prefetch(table->slot(hash & (table->slots - 1)));
    return hash;
}

LawStore::Ref LawStore::find(std::span<const uint64_t> signature, uint64_t hash) const {
    if (is_zero(signature)) return zero_root();
    Table* const table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return Ref::none;
    const size_t mask = table->slots - 1;
    for (size_t number = hash & mask;; number = (number + 1) & mask) {
        const Word* const slot = table->slot(number);
        const uint64_t root = slot[0].load(std::memory_order_acquire);
        if (root == 0) return Ref::none;
        if (root == busy) continue;
        if (is_slot_of(slot, signature)) return static_cast<Ref>(root);
    }
}

bool LawStore::insert(std::span<const uint64_t> signature, Ref root) {
    if (is_zero(signature)) {
        Ref nothing = Ref::none;
        return zero_root_.compare_exchange_strong(nothing, root, std::memory_order_release, std::memory_order_relaxed);
    }
    Table* table = table_.load(std::memory_order_acquire);
    if (table == nullptr || 2 * table->used.load(std::memory_order_relaxed) >= table->slots) {
        grow_table();
        table = table_.load(std::memory_order_acquire);
    }
    return table != nullptr && insert(*table, signature, static_cast<uint64_t>(root));
}

bool LawStore::insert(Table& table, std::span<const uint64_t> signature, uint64_t root) {
    // Some slots stay free, so that a search ends.
    if (8 * (table.used.fetch_add(1, std::memory_order_relaxed) + 1) <= 7 * table.slots) {
        const size_t mask = table.slots - 1;
        for (size_t number = hash_of(signature) & mask;; number = (number + 1) & mask) {
            Word* const slot = table.slot(number);
            uint64_t found = 0;
            if (slot[0].compare_exchange_strong(found, busy, std::memory_order_acquire)) {
                for (size_t w = 0; w < signature.size(); ++w) slot[1 + w].store(signature[w], std::memory_order_relaxed);
                slot[0].store(root, std::memory_order_release);
                return true;
            }
            if (found != busy && is_slot_of(slot, signature)) break;
        }
    }
    table.used.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

void LawStore::grow_table() {
    std::unique_lock lock(growing_, std::defer_lock);
    // The first table is allocated in microseconds. Threads wait for it, as a law that finds no table is lost.
    if (table_.load(std::memory_order_acquire) == nullptr)
        lock.lock();
    else if (!lock.try_lock())
        return;
    Table* const old = table_.load(std::memory_order_relaxed);
    if (old != nullptr && 2 * old->used.load(std::memory_order_relaxed) < old->slots) return;
    const size_t slots = old == nullptr ? first_slots : 2 * old->slots;
    std::vector<uint64_t> signature(signature_words_);
    tables_.reserve(tables_.size() + 1);
    std::unique_ptr<Table> table;
    const auto allocate = [&] { table = std::make_unique<Table>(slots, slot_words()); };
    if (!budget_.take(slots * slot_words() * sizeof(uint64_t), allocate)) return;
    // Entries that other threads add to the old table in the meantime are lost, and will be found again.
    for (size_t number = 0; old != nullptr && number < old->slots; ++number) {
        const Word* const slot = old->slot(number);
        const uint64_t root = slot[0].load(std::memory_order_acquire);
        if (root == 0 || root == busy) continue;
        for (size_t w = 0; w < signature.size(); ++w) signature[w] = slot[1 + w].load(std::memory_order_relaxed);
        insert(*table, signature, root);
    }
    table_.store(table.get(), std::memory_order_release);
    tables_.push_back(std::move(table));
}

void LawStore::forget_old_tables() {
    if (tables_.size() <= 1) return;
    for (size_t k = 0; k + 1 < tables_.size(); ++k) budget_.give_back(tables_[k]->bytes());
    tables_.erase(tables_.begin(), tables_.end() - 1);
    nodes_.ask_again();
    leaf_outputs_.ask_again();
    checkpoints_.ask_again();
}

}  // namespace snc
