// Accesses to memory: bounds, alignment, and (PTX_RACES) whether accesses of different threads are ordered.
#pragma once

#include <algorithm>

#include "launch.h"
#include "registers.h"

// Kinds of access, as bits.
enum Kind { reads = 0, writes = 1, atomic = 2 };

template <Space space, class T, int n>
inline uint8_t* Thread::checked(uint64_t address, uint32_t site, int kind) {
    constexpr uint64_t size = sizeof(T) * n;
    bool is_shared = space == kShared;
    uint64_t offset = address;
    if (space == kGeneric && address - kSharedWindow < kSharedWindowSize) {
        is_shared = true;
        offset = address - kSharedWindow;
    }
    const char* memory = is_shared ? "shared" : "global";
    if (offset % size != 0) {
        g->say("MISALIGNED: %d bytes at %#lx of %s memory, site %u, thread %u of block %u", int(size), offset, memory, site, tid,
               block->index);
        g->fail();
    }
    if (is_shared) {
        if (offset + size > block->shared.size() || offset + size < offset) {
            g->say("OUT OF BOUNDS: %d bytes at %#lx of %zu bytes of shared memory, site %u, thread %u of block %u", int(size),
                   offset, block->shared.size(), site, tid, block->index);
            g->fail();
        }
#ifdef PTX_RACES
        record(block->shadow.data(), offset, size, site, kind);
#endif
        return block->shared.data() + offset;
    }
    const auto contains = [&](const Allocation& a) { return a.size >= size && address - a.begin <= a.size - size; };
    const Allocation* hint = g->hints[site];
    if (hint == nullptr || !contains(*hint)) {
        const Allocation *begin = g->request.allocations, *end = begin + g->request.num_allocations;
        hint = std::find_if(begin, end, contains);
        if (hint == end) {
            g->say("OUT OF BOUNDS: %d bytes at %#lx of global memory, site %u, thread %u of block %u", int(size), address, site,
                   tid, block->index);
            g->fail();
        }
        g->hints[site] = hint;
        // A site either reads or writes, so it is enough to look here.
        g->request.touched[hint - begin] |= (kind & writes) != 0 ? 2 : 1;
    }
#ifdef PTX_RACES
    record(static_cast<Cell*>(hint->shadow), address - hint->begin, size, site, kind);
#endif
    return reinterpret_cast<uint8_t*>(address);
}

// Notes an access, and reports it if an earlier one conflicts with it.
inline void Thread::record(Cell* cells, uint64_t offset, uint64_t size, uint32_t site, int kind) {
    const bool is_write = (kind & writes) != 0, is_atomic = (kind & atomic) != 0, is_shared = cells == block->shadow.data();
    // Whether an earlier access happened before this one, for each way in which its thread may have met this one. Accesses of
    // other launches are ordered by streams, of which the caller keeps account.
    const auto ordered = [&](uint32_t other, uint32_t when) {
        if (other == id || when < g->first_tick) return true;
        if (other / g->block_threads != block->index) return false;
        if (when < block->tick) return true;
        const Thread& o = block->threads[other % g->block_threads];
        if (o.warp == warp) return when < warp_tick;
        return o.named == named && named != 0 && when < named_tick;
    };
    const auto report = [&](const char* what, uint32_t other, uint32_t other_site, int number) {
        if (!g->reported.emplace(std::min(site, other_site), std::max(site, other_site), number).second) return;
        g->say("RACE: %s, sites %u (thread %u) and then %u (thread %u), offset %#lx of %s memory", what, other_site, other, site,
               id, offset, is_shared ? "shared" : "global");
    };
    for (uint64_t k = offset; k < offset + size; ++k) {
        Cell& c = cells[k];
        if (c.write_tick != 0 && !(is_atomic && c.atomic_write) && !ordered(c.writer, c.write_tick))
            report(is_write ? "write after write" : "read after write", c.writer, c.write_site, is_write ? 0 : 1);
        if (is_write) {
            for (int r = 0; r < 2; ++r)
                if (c.read_ticks[r] != 0 && !ordered(c.readers[r], c.read_ticks[r]))
                    report("write after read", c.readers[r], c.read_sites[r], 2);
            c.writer = id;
            c.write_tick = g->tick;
            c.write_site = site;
            c.atomic_write = is_atomic;
            c.written = 1;
            continue;
        }
        if (!c.written && is_shared && g->reported.emplace(site, site, 3).second)
            g->say("UNINITIALIZED: site %u reads offset %#lx of shared memory, thread %u", site, offset, id);
        // A volatile read may race with atomic writes: it is not noted as a read.
        if (is_atomic) continue;
        if (c.readers[0] != id) {
            c.readers[1] = c.readers[0];
            c.read_ticks[1] = c.read_ticks[0];
            c.read_sites[1] = c.read_sites[0];
            c.readers[0] = id;
        }
        c.read_ticks[0] = g->tick;
        c.read_sites[0] = site;
    }
}

template <Space space, bool is_volatile, class T, int n>
inline void Thread::load(T (&v)[n], uint64_t address, uint32_t site) {
    if (is_volatile) maybe_preempt();
    memcpy(v, checked<space, T, n>(address, site, is_volatile ? reads | atomic : reads), sizeof v);
}
template <Space space, bool is_volatile, class T, int n>
inline void Thread::store(const T (&v)[n], uint64_t address, uint32_t site) {
    memcpy(checked<space, T, n>(address, site, is_volatile ? writes | atomic : writes), v, sizeof v);
}
template <Space space, class T>
inline T Thread::atomic_add(uint64_t address, T value, uint32_t site) {
    maybe_preempt();
    uint8_t* p = checked<space, T, 1>(address, site, writes | atomic);
    const T old = from_memory<T>(p);
    to_memory<T>(p, old + value);
    return old;
}
template <Space space, class T>
inline T Thread::atomic_cas(uint64_t address, T expected, T desired, uint32_t site) {
    maybe_preempt();
    uint8_t* p = checked<space, T, 1>(address, site, writes | atomic);
    const T old = from_memory<T>(p);
    if (old == expected) to_memory<T>(p, desired);
    return old;
}
