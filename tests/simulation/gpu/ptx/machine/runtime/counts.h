// With PTX_COUNTS, the lanes of a warp run in step, the lowest basic block first, and what they do is counted.
#pragma once

#include <algorithm>
#include <map>

#include "launch.h"

#ifdef PTX_COUNTS

#define PTX_BLOCK(number) t.at_block(number);

inline void Thread::at_block(uint32_t number) {
    basic_block = number;
    fresh = true;
    g->yield();
}

// By site: executions by warps and by lanes; bytes; sectors of global memory, or passes of shared memory; lines of 128 bytes of
// global memory; the passes of shared memory if no banks conflicted.
enum Count { by_warps, by_lanes, bytes_accessed, sectors_or_passes, lines_touched, least_passes, counts_per_site };

// Counts what the lanes of a warp have accessed in one execution of a basic block.
static void count_accesses(Warp& w) {
    std::map<uint32_t, std::vector<const Access*>> by_site;
    for (const Access& access : w.accesses) by_site[access.site].push_back(&access);
    for (const auto& [site, list] : by_site) {
        uint64_t* counts = g->request.site_counts + counts_per_site * site;
        counts[by_warps] += 1;
        counts[by_lanes] += list.size();
        std::set<uint64_t> sectors, lines;
        // Lanes whose words fill 128 bytes are served together: all, or 16 for 8 bytes, or 8 for 16 bytes.
        std::map<uint64_t, std::map<uint64_t, std::set<uint64_t>>> banks;
        for (const Access* access : list) {
            counts[bytes_accessed] += access->bytes;
            auto& group = banks[access->lane * std::max(access->bytes, 4u) / 128];
            for (uint64_t word = access->address / 4; word <= (access->address + access->bytes - 1) / 4; ++word)
                group[word % 32].insert(word);
            sectors.insert(access->address / 32);
            lines.insert(access->address / 128);
        }
        if (!list[0]->is_shared) {
            counts[sectors_or_passes] += sectors.size();
            counts[lines_touched] += lines.size();
            continue;
        }
        counts[least_passes] += banks.size();
        for (const auto& [group, by_bank] : banks) {
            size_t most = 0;
            for (const auto& [bank, words] : by_bank) most = std::max(most, words.size());
            counts[sectors_or_passes] += most;
        }
    }
    w.accesses.clear();
}

// Lets a warp go on by one basic block. Returns whether it could.
static bool step(Launch& launch, Warp& w) {
    bool any = false;
    // Those that were woken go on to their next block.
    for (uint32_t l = 0; l < w.size && !launch.failed; ++l)
        if (w.lanes[l]->waits == Waits::no && !w.lanes[l]->fresh) {
            launch.resume(w.lanes[l]);
            any = true;
        }
    uint32_t lowest = ~0u, lanes = 0;
    for (uint32_t l = 0; l < w.size; ++l)
        if (w.lanes[l]->waits == Waits::no) lowest = std::min(lowest, w.lanes[l]->basic_block);
    if (lowest == ~0u || launch.failed) return any;
    std::vector<Thread*> group;
    for (uint32_t l = 0; l < w.size; ++l)
        if (w.lanes[l]->waits == Waits::no && w.lanes[l]->basic_block == lowest) group.push_back(w.lanes[l]);
    for (Thread* t : group) {
        if (launch.failed) break;
        ++lanes;
        t->fresh = false;
        launch.resume(t);
    }
    launch.request.block_counts[2 * lowest] += 1;
    launch.request.block_counts[2 * lowest + 1] += lanes;
    count_accesses(w);
    return true;
}

// Runs all warps in turn. Returns whether any of them could go on.
static bool step(Launch& launch) {
    bool any = false;
    for (auto& block : launch.blocks)
        for (Warp& w : block->warps)
            if (!launch.failed) any = step(launch, w) || any;
    launch.ready.clear();
    return any;
}

#else

#define PTX_BLOCK(number)

#endif
