#include "compiler/sweeps/measurement_batch.h"

#include <algorithm>

namespace snc {

namespace {

// A fair coin that needs no rotations.
constexpr MeasurementCost coin{0, true, 0};

}  // namespace

bool MeasurementBatch::commutes_with(Factors factors) const {
    return std::ranges::none_of(factors, [&](const QubitPauli& factor) {
        return std::ranges::any_of(kinds_on_[factor.qubit], [&](uint32_t kind) { return anticommute(factors, kinds_[kind]); });
    });
}

void MeasurementBatch::add(int64_t step, Factors factors, int64_t record, bool is_inverted) {
    const auto place = static_cast<uint32_t>(measurements_.size());
    auto kind = static_cast<uint32_t>(kinds_.size());
    if (!factors.empty())
        for (const uint32_t other : kinds_on_[factors[0].qubit])
            if (std::ranges::equal(factors, kinds_[other])) kind = other;
    if (kind == kinds_.size()) {
        kinds_.push_back(factors);
        for (const QubitPauli& factor : factors) kinds_on_[factor.qubit].push_back(kind);
    }
    for (const QubitPauli& factor : factors) on_[factor.qubit].push_back(place);
    measurements_.push_back({step, factors, record, is_inverted, kind, false});
}

std::vector<int64_t> MeasurementBatch::reordered(int64_t step, Factors factors) const {
    std::vector<uint32_t> places;
    for (const QubitPauli& factor : factors)
        places.insert(places.end(), on_[factor.qubit].begin(), on_[factor.qubit].end());
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::vector<int64_t> records;
    for (const uint32_t place : places) {
        const Measurement& other = measurements_[place];
        if (other.step != step && (other.step < step) != other.is_done && anticommute(factors, other.factors))
            records.push_back(other.record);
    }
    return records;
}

void MeasurementBatch::clear() {
    for (const Measurement& measurement : measurements_) {
        for (const QubitPauli& factor : measurement.factors) {
            on_[factor.qubit].clear();
            kinds_on_[factor.qubit].clear();
        }
    }
    measurements_.clear();
    kinds_.clear();
}

MeasurementOrder::MeasurementOrder(const MeasurementBatch& batch, std::vector<size_t> patches, size_t num_patches,
                                   CostOf cost_of)
    : batch_(batch),
      patches_(std::move(patches)),
      cost_of_(std::move(cost_of)),
      first_(num_patches),
      following_(batch.size(), none),
      costs_(batch.num_kinds()),
      known_(num_patches),
      candidates_(num_patches) {
    std::vector<size_t> last(batch.num_kinds(), none);
    for (size_t place = 0; place < batch.size(); ++place) {
        size_t& previous = last[batch[place].kind];
        if (previous == none)
            first_[patches_[place]].insert(place);
        else
            following_[previous] = place;
        previous = place;
    }
    for (size_t patch = 0; patch < num_patches; ++patch)
        if (!first_[patch].empty()) look_at(patch);
}

size_t MeasurementOrder::next() {
    while (!is_current(by_cost_.top())) by_cost_.pop();
    while (!unhindered_.empty() && !is_unhindered(unhindered_.top())) unhindered_.pop();
    const auto [cost, place] = by_cost_.top();
    if (unhindered_.empty()) return place;
    const size_t end = unhindered_.top();
    if (!candidates_[patches_[end]]->unhindered->first.is_coin || cost >= coin) return end;
    if (place < end) return place;
    // The cheapest one is too late in the circuit, others may be cheaper than a coin as well.
    Choice best{coin, end};
    for (size_t patch = 0; patch < candidates_.size(); ++patch) {
        if (!candidates_[patch] || candidates_[patch]->best.first >= coin) continue;
        if (const auto found = candidates_among(patch, end)) best = std::min(best, found->best);
    }
    return best.second;
}

void MeasurementOrder::remove(size_t place, bool has_changed) {
    const size_t patch = patches_[place];
    if (has_changed) {
        for (const uint32_t kind : known_[patch]) costs_[kind].reset();
        known_[patch].clear();
    }
    first_[patch].erase(place);
    if (following_[place] != none) first_[patch].insert(following_[place]);
    look_at(patch);
}

bool MeasurementOrder::is_current(const Choice& choice) const {
    const auto& candidates = candidates_[patches_[choice.second]];
    return candidates && candidates->best == choice;
}

bool MeasurementOrder::is_unhindered(size_t place) const {
    const auto& candidates = candidates_[patches_[place]];
    return candidates && candidates->unhindered && candidates->unhindered->second == place;
}

void MeasurementOrder::look_at(size_t patch) {
    candidates_[patch] = candidates_among(patch, none);
    if (!candidates_[patch]) return;
    by_cost_.push(candidates_[patch]->best);
    if (candidates_[patch]->unhindered) unhindered_.push(candidates_[patch]->unhindered->second);
}

std::optional<MeasurementOrder::Candidates> MeasurementOrder::candidates_among(size_t patch, size_t end) {
    std::optional<Candidates> found;
    for (const size_t place : first_[patch]) {  // later ones of the same kind are as expensive
        if (place >= end) break;
        const MeasurementCost any{SIZE_MAX, true, SIZE_MAX};
        const uint32_t kind = batch_[place].kind;
        std::optional<MeasurementCost>& cost = costs_[kind];
        if (!cost) {
            cost = cost_of_(place, found ? found->best.first : any);
            if (!cost) continue;
            known_[patch].push_back(kind);
        }
        const Choice choice{*cost, place};
        if (!found || choice < found->best) found = Candidates{choice, {}};
        if (cost->rotations == 0) {
            found->unhindered = choice;
            break;
        }
    }
    return found;
}

}  // namespace snc
