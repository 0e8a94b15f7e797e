// Runs a kernel that translation.py has translated: every thread of the GPU is a fibre, and all blocks of the grid run at the
// same time. A fibre runs up to its next synchronization; which one runs next is drawn at random.
#pragma once

#include <sys/mman.h>

#include <map>

#include "launch.h"
#include "memory.h"
#include "registers.h"
#include "synchronization.h"

static void ptx_start() {
    Thread& t = *g->current;
    ptx_kernel(t);
    t.waits = Waits::ended;
    t.warp->alive &= ~(1u << t.tid % 32);
    g->yield();
    __builtin_unreachable();
}

static std::unique_ptr<Block> new_block(Launch& launch, uint32_t index) {
    auto block = std::make_unique<Block>();
    block->index = index;
    block->shared.resize(launch.dynamic_begin() + launch.request.dynamic_shared);
    for (uint8_t& byte : block->shared) byte = launch.random();
#ifdef PTX_RACES
    block->shadow.assign(block->shared.size(), Cell{});
#endif
    block->threads.resize(launch.block_threads);
    block->warps.resize((launch.block_threads + 31) / 32);
    for (uint32_t k = 0; k < launch.block_threads; ++k) {
        Thread& t = block->threads[k];
        t.tid = k;
        t.id = index * launch.block_threads + k;
        t.block = block.get();
        t.warp = &block->warps[k / 32];
        t.warp->lanes[t.warp->size++] = &t;
        t.warp->alive |= 1u << k % 32;
        // Stacks that begin at different places of a page share fewer lines of the cache.
        const size_t end = stack_bytes * (size_t{t.id} + 1) - 64 * (t.id % 16);
        auto* top = reinterpret_cast<uint64_t*>(static_cast<uint8_t*>(launch.stacks) + end);
        *--top = 0;                                       // alignment, as after a call
        *--top = reinterpret_cast<uint64_t>(&ptx_start);  // where `ret` goes
        for (int r = 0; r < 6; ++r) *--top = 0;
        t.stack_pointer = top;
        launch.ready.push_back(&t);
    }
    return block;
}

// Begins a launch. Returns null if there is no memory.
static Launch* begin_launch(const Request& request, uint32_t static_shared, uint32_t num_sites) {
    auto launch = std::make_unique<Launch>();
    launch->request = request;
    launch->static_shared = static_shared;
    launch->block_threads = request.block_threads;
    launch->num_blocks = request.num_blocks;
    launch->hints.assign(num_sites, nullptr);
    launch->state = request.random * 2 + 1;
    launch->tick = launch->first_tick = *request.tick + 1;
    launch->stacks_bytes = stack_bytes * launch->num_threads();
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    launch->stacks = mmap(nullptr, launch->stacks_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (launch->stacks == MAP_FAILED) return nullptr;
    for (uint32_t b = 0; b < request.num_blocks; ++b) launch->blocks.push_back(new_block(*launch, b));
    return launch.release();
}

static void say_what_hangs(Launch& launch) {
    launch.failed = true;
    launch.say("HANG: %u of %u threads never end", launch.num_threads() - launch.done, launch.num_threads());
    std::map<std::tuple<Waits, uint32_t>, uint32_t> where;
    for (auto& block : launch.blocks)
        for (Thread& t : block->threads)
            if (t.waits != Waits::ended) ++where[{t.waits, t.site}];
    for (const auto& [key, count] : where)
        launch.say("  %u threads wait at site %u (%s)", count, std::get<1>(key),
                   std::get<0>(key) == Waits::for_barrier ? "barrier" : "warp");
}

// Lets threads run, one after the other, about so many times. Returns 0 if some have still to run, 1 if all have ended, 2 if
// the launch has failed.
static int run_launch(Launch& launch, uint64_t turns) {
    g = &launch;
    for (; turns > 0 && !launch.ready.empty() && !launch.failed; --turns) {
        const uint64_t k = launch.random() % launch.ready.size();
        Thread* t = launch.ready[k];
        launch.ready[k] = launch.ready.back();
        launch.ready.pop_back();
        launch.resume(t);
    }
    if (!launch.failed && launch.ready.empty() && launch.done < launch.num_threads()) say_what_hangs(launch);
    // Other launches may have run meanwhile.
    *launch.request.tick = std::max(*launch.request.tick, launch.tick + 1);
    snprintf(launch.request.message, message_bytes, "%s", launch.message.c_str());
    g = nullptr;
    return launch.failed ? 2 : launch.done == launch.num_threads() ? 1 : 0;
}

static void end_launch(Launch* launch) {
    munmap(launch->stacks, launch->stacks_bytes);
    delete launch;
}

#define PTX_EXPORTS()                                                                                                     \
    extern "C" void* ptx_begin(const Request* request) { return begin_launch(*request, kStaticShared, kNumSites); }       \
    extern "C" int ptx_run(void* launch, uint64_t turns) { return run_launch(*static_cast<Launch*>(launch), turns); }     \
    extern "C" void ptx_end(void* launch) { end_launch(static_cast<Launch*>(launch)); }
