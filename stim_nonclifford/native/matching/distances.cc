#include "matching/distances.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace snc {

namespace {

using Reached = std::pair<uint64_t, uint32_t>;  // distance, node
using Queue = std::priority_queue<Reached, std::vector<Reached>, std::greater<>>;

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
    while (!queue.empty()) {
        const auto [distance, node] = queue.top();
        queue.pop();
        if (distance > found[node]) continue;
        for (uint32_t k = starts_[node]; k < starts_[node + 1]; ++k) {
            const uint64_t reached = distance + neighbours_[k].weight;
            if (reached < found[neighbours_[k].node]) queue.push({found[neighbours_[k].node] = reached, neighbours_[k].node});
        }
    }
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
    while (!queue.empty()) {
        const auto [distance, at] = queue.top();
        queue.pop();
        // Whatever lies behind a node that is nearer over the boundary is nearer over the boundary, too.
        if (distance > row[at]) continue;
        for (uint32_t k = starts_[at]; k < starts_[at + 1]; ++k) {
            const uint64_t reached = distance + neighbours_[k].weight;
            if (reached < row[neighbours_[k].node]) {
                row[neighbours_[k].node] = static_cast<uint32_t>(reached);
                queue.push({reached, neighbours_[k].node});
            }
        }
    }
}

}  // namespace snc
