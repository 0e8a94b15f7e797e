#include "rates/matching/distances.h"

#include <algorithm>
#include <utility>

namespace snc {

namespace {

constexpr uint64_t unreached = UINT64_MAX;

// Two of them add up to less than `Distances::far`.
constexpr uint64_t largest_to_boundary = INT32_MAX - 1;

}  // namespace

Distances::Distances(uint32_t num_nodes, const std::vector<MatchingEdge>& edges, size_t max_bytes)
    : starts_(num_nodes + 1, 0),
      boundary_(num_nodes, far),
      rows_(num_nodes),
      rows_left_(max_bytes / (sizeof(uint32_t) * std::max<size_t>(num_nodes, 1))) {
    for (const MatchingEdge& edge : edges)
        if (edge.second != num_nodes) ++starts_[edge.first], ++starts_[edge.second];
    uint32_t total = 0;
    for (uint32_t& start : starts_) total += std::exchange(start, total);
    neighbours_.resize(total);
    std::vector<uint32_t> next(starts_.begin(), starts_.end() - 1);
    std::vector<uint64_t> found(num_nodes, unreached);
    for (const MatchingEdge& edge : edges) {
        if (edge.second == num_nodes) {
            found[edge.first] = std::min<uint64_t>(found[edge.first], edge.weight);
        } else {
            neighbours_[next[edge.first]++] = {edge.second, edge.weight};
            neighbours_[next[edge.second]++] = {edge.first, edge.weight};
        }
    }
    Queue queue;
    for (uint32_t node = 0; node < num_nodes; ++node)
        if (found[node] != unreached) queue.push({found[node], node});
    spread(queue, found.data());
    for (uint32_t node = 0; node < num_nodes; ++node)
        if (found[node] <= largest_to_boundary) boundary_[node] = static_cast<uint32_t>(found[node]);
}

const uint32_t* Distances::from(uint32_t node) {
    if (boundary_[node] == far) return nullptr;
    if (const uint32_t* row = rows_[node].load(std::memory_order_acquire)) return row;
    const std::lock_guard lock(mutex_);
    if (const uint32_t* row = rows_[node].load(std::memory_order_relaxed)) return row;
    if (rows_left_ == 0) return nullptr;
    uint32_t* row = owned_.emplace_back(std::make_unique<uint32_t[]>(num_nodes())).get();
    compute(node, row);
    --rows_left_;
    rows_[node].store(row, std::memory_order_release);
    return row;
}

void Distances::compute(uint32_t node, uint32_t* row) const {
    for (uint32_t other = 0; other < num_nodes(); ++other)
        row[other] = boundary_[other] == far ? far : boundary_[node] + boundary_[other];
    row[node] = 0;
    Queue queue;
    queue.push({0, node});
    // Whatever lies behind a node that is nearer over the boundary is nearer over the boundary, too.
    spread(queue, row);
}

template <typename Distance>
void Distances::spread(Queue& queue, Distance* found) const {
    while (!queue.empty()) {
        const auto [distance, node] = queue.top();
        queue.pop();
        if (distance > found[node]) continue;
        for (uint32_t k = starts_[node]; k < starts_[node + 1]; ++k) {
            const auto& [next, weight] = neighbours_[k];
            if (distance + weight < found[next]) queue.push({found[next] = static_cast<Distance>(distance + weight), next});
        }
    }
}

}  // namespace snc
