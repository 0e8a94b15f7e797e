// Barriers, and what the lanes of a warp do together.
#pragma once

#include "launch.h"

// Lets other threads go first, at times.
inline void Thread::maybe_preempt() {
    if (g->request.preempt != 0 && g->random() % g->request.preempt == 0) {
        g->ready.push_back(this);
        g->yield();
    }
}

inline void Thread::barrier(uint32_t number, uint32_t count, uint32_t at) {
    const uint32_t wanted = count != 0 ? count : g->block_threads;
    if (number >= 16 || wanted % 32 != 0 || wanted > g->block_threads) {
        g->say("BARRIER: bar.sync %u, %u at site %u", number, wanted, at);
        g->fail();
    }
    Barrier& b = block->barriers[number];
    if (!b.waiting.empty() && b.wanted != wanted) {
        g->say("BARRIER: %u is reached with %u and with %u threads, site %u", number, b.wanted, wanted, at);
        g->fail();
    }
    // bar.sync is `aligned`: all threads of a warp execute the same instruction.
    if (warp->bar_lanes != 0 && warp->bar_site != at) {
        g->say("BARRIER: lanes of a warp wait at sites %u and %u, block %u, thread %u", warp->bar_site, at, block->index, tid);
        g->fail();
    }
    warp->bar_site = at;
    warp->bar_lanes |= 1u << tid % 32;
    b.wanted = wanted;
    b.waiting.push_back(this);
    waits = Waits::for_barrier;
    site = at;
    if (b.waiting.size() < wanted) return g->yield();
    ++g->tick;
    if (number == 0 && wanted == g->block_threads) block->tick = g->tick;
    std::vector<Thread*> met;
    met.swap(b.waiting);
    for (Thread* t : met) {
        t->warp_tick = t->named_tick = g->tick;
        t->named = number;
        t->warp->bar_lanes = 0;
        g->wake(t);
    }
    g->yield();
}

// Waits for the lanes of a mask. The last one returns true, and has to wake them all.
inline bool Thread::meet_warp(uint32_t with, uint32_t at, bool same_site) {
    if ((with >> tid % 32 & 1) == 0) {
        g->say("WARP: thread %u is not in its mask %#x, site %u", tid, with, at);
        g->fail();
    }
    if ((with & ~warp->alive) != 0) {
        g->say("WARP: mask %#x at site %u names lanes that have ended (alive: %#x), block %u, thread %u", with, at, warp->alive,
               block->index, tid);
        g->fail();
    }
    waits = Waits::for_warp;
    site = at;
    mask = with;
    uint32_t there = 0;
    for (uint32_t l = 0; l < warp->size; ++l) {
        const Thread& o = *warp->lanes[l];
        if ((with >> l & 1) == 0 || o.waits != Waits::for_warp) continue;
        if (o.mask != with || (same_site && o.site != at)) {
            g->say("WARP: lanes of one warp meet at sites %u (mask %#x) and %u (mask %#x), block %u", o.site, o.mask, at, with,
                   block->index);
            g->fail();
        }
        there |= 1u << l;
    }
    return there == with;
}

inline void Thread::warp_sync(uint32_t with, uint32_t at) {
    if (meet_warp(with, at, false)) {
        ++g->tick;
        for (uint32_t l = 0; l < warp->size; ++l) {
            if ((with >> l & 1) == 0) continue;
            warp->lanes[l]->warp_tick = g->tick;
            g->wake(warp->lanes[l]);
        }
    }
    g->yield();
}

// Shuffles and votes do not order accesses to memory.
inline Thread::Shuffled Thread::shuffle(int mode, uint32_t a, uint32_t b, uint32_t c, uint32_t with, uint32_t at) {
    const int lane = tid % 32, segment = c >> 8 & 31, clamp = c & 31, by = b & 31;
    const int max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment;
    const int sources[] = {lane - by, lane + by, lane ^ by, min_lane | (by & ~segment)};  // up, down, bfly, idx
    const int source = sources[mode];
    const bool valid = mode == 0 ? source >= max_lane : source <= max_lane;
    value = a;
    from = valid ? source : lane;
    if ((with >> from & 1) == 0) {
        g->say("WARP: a shuffle reads lane %d, which is not in its mask %#x, site %u", from, with, at);
        g->fail();
    }
    if (meet_warp(with, at, true)) {
        for (uint32_t l = 0; l < warp->size; ++l)
            if ((with >> l & 1) != 0) warp->lanes[l]->result = warp->lanes[warp->lanes[l]->from]->value;
        for (uint32_t l = 0; l < warp->size; ++l)
            if ((with >> l & 1) != 0) g->wake(warp->lanes[l]);
    }
    g->yield();
    return {result, valid};
}

inline uint32_t Thread::ballot(bool wants, uint32_t with, uint32_t at) {
    value = wants;
    if (meet_warp(with, at, true)) {
        uint32_t bits = 0;
        for (uint32_t l = 0; l < warp->size; ++l)
            if ((with >> l & 1) != 0) bits |= warp->lanes[l]->value << l;
        for (uint32_t l = 0; l < warp->size; ++l) {
            if ((with >> l & 1) == 0) continue;
            warp->lanes[l]->result = bits;
            g->wake(warp->lanes[l]);
        }
    }
    g->yield();
    return result;
}
