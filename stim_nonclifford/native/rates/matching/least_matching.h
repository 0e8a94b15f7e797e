// The least weight of a matching of events with each other or with the boundary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "rates/matching/distances.h"

namespace snc {

// Edmonds' blossom algorithm on few events whose distances are known: the graph between them is not needed.
//
// Each event has a radius. Two events that are in no common blossom, and an event and the boundary, are at least as far from each
// other as their radii say. The sum of what single events and blossoms contribute to radii is at most the weight of each matching.
// A search grows the radii of a tree of events until another event is matched; then that sum is the weight of a matching. One more
// event costs one more search, and the searches before it remain valid.
//
// Weights must be even numbers: then all radii of a tree are even or all are odd, and half of the distance of two of them is a whole
// number. Events stand for the vertices of the matching, and sets for events and blossoms.
class LeastMatching {
   public:
    // The least weight for different nodes, all of which fire; -1 if a distance is not known.
    int64_t weight(Distances& distances, std::span<const uint32_t> nodes);

    // The least weight if one more node fires.
    int64_t weight_with(uint32_t node);

   private:
    enum class Label : uint8_t { free, outer, inner };

    struct Set {
        int32_t parent = none;
        Label label = Label::free;
        int64_t surplus = 0;     // what a blossom adds to the radii of its events, in the same way as radius_
        int32_t matched = none;  // the event inside that is matched with `mate` outside
        int32_t mate = none;
        int32_t entry = none;  // of an inner set: the event through which the tree enters it from `origin`
        int32_t origin = none;
        uint64_t visit = 0;
        std::vector<int32_t> events;
        std::vector<int32_t> children;                   // an odd circle
        std::vector<std::pair<int32_t, int32_t>> edges;  // from each child to the next one
    };

    struct Step {
        enum class Kind : uint8_t { boundary, grow, join, expand };

        int64_t time = std::numeric_limits<int64_t>::max();
        Kind kind = Kind::boundary;
        int32_t place = none;  // an event, or the blossom to expand
    };

    static constexpr int32_t none = -1, boundary = -2;

    bool add(uint32_t node);
    void start_radii();
    void search(int32_t root);
    Step next_step();
    bool apply(const Step& step);  // whether a matching was found
    void grow(int32_t event);
    void join(int32_t first, int32_t second);
    void expand(int32_t blossom);
    void match_path(int32_t event, int32_t mate);
    void finish();

    void scan(int32_t event);
    void set_label(int32_t set, Label label);
    std::vector<int32_t> path_to(int32_t set, int32_t ancestor, std::vector<std::pair<int32_t, int32_t>>& edges) const;
    int32_t common_ancestor(int32_t first, int32_t second);
    int32_t parent_in_tree(int32_t outer) const;
    int32_t child_with(int32_t blossom, int32_t event) const;
    int32_t new_blossom();
    void pair_up(int32_t first, int32_t second);

    int64_t distance(int32_t a, int32_t b) const { return matrix_[static_cast<size_t>(a) * stride_ + static_cast<size_t>(b)]; }
    int64_t growth(Label label) const { return label == Label::outer ? time_ : label == Label::inner ? -time_ : 0; }

    Distances* distances_ = nullptr;
    int32_t num_events_ = 0;
    size_t stride_ = 0;
    int64_t total_ = 0;
    int64_t time_ = 0;  // by how much the radii of outer sets have grown in this search
    uint64_t visits_ = 0;
    std::vector<uint32_t> nodes_;
    std::vector<const uint32_t*> rows_;
    std::vector<uint32_t> matrix_;
    std::vector<int64_t> to_boundary_;
    std::vector<int64_t> radius_;  // less what it grows in this search: growth() of its set
    std::vector<int32_t> top_;
    std::vector<int64_t> reach_;  // of an event that is not outer: least distance from an outer event, less that one's radius_
    std::vector<int32_t> reached_from_;
    std::vector<int64_t> partner_gap_;  // of an outer event: the same for outer events in other sets, less both
    std::vector<int32_t> partner_;
    std::vector<Set> sets_;
    std::vector<int32_t> unused_;
};

}  // namespace snc
