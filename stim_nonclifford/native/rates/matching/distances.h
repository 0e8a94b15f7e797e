// A matching graph: how far its nodes are from each other and from the boundary.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

namespace snc {

struct MatchingEdge {
    uint32_t first;
    uint32_t second;  // num_nodes: the boundary
    uint32_t weight;
};

// Distances are computed when they are first asked for, one node after the other. Several threads may ask.
class Distances {
   public:
    // The memory of the distances is bounded by `max_bytes`.
    Distances(uint32_t num_nodes, const std::vector<MatchingEdge>& edges, size_t max_bytes);

    uint32_t num_nodes() const { return static_cast<uint32_t>(boundary_.size()); }

    // From a node to the boundary; `far` if it cannot be reached, or is too far for the distances to be numbers of 32 bits.
    uint32_t to_boundary(uint32_t node) const { return boundary_[node]; }

    // From a node to all others, or over the boundary if that is shorter. Null: there is no memory left, or a node is far.
    const uint32_t* from(uint32_t node);

    static constexpr uint32_t far = UINT32_MAX;

   private:
    struct Neighbour {
        uint32_t node;
        uint32_t weight;
    };

    std::vector<uint32_t> starts_;  // of the neighbours of each node
    std::vector<Neighbour> neighbours_;
    std::vector<uint32_t> boundary_;
    using Queue = std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>, std::greater<>>;

    void compute(uint32_t node, uint32_t* row) const;
    // Lowers the distances to what paths from the nodes in the queue, which has them with theirs, need.
    template <typename Distance>
    void spread(Queue& queue, Distance* found) const;

    std::vector<std::atomic<const uint32_t*>> rows_;  // null: not known yet
    std::mutex mutex_;                                // of what follows
    std::vector<std::unique_ptr<uint32_t[]>> owned_;
    size_t rows_left_;
};

}  // namespace snc
