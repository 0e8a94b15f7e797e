// A launch: its threads, which are fibres, its warps and blocks, and what the caller gives.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

// What the caller gives; the same structures are in kernels.py.

struct Allocation {
    uint64_t begin, size;
    void* shadow;  // [size] cells, if races are looked for
};
struct Request {
    const Allocation* allocations;
    uint64_t num_allocations;
    const uint8_t* params;
    uint32_t num_blocks, block_threads, dynamic_shared, preempt;  // preempt: 1 / probability before atomics and volatile reads
    uint64_t random;
    char* message;     // [message_bytes]
    uint32_t* tick;    // goes on from launch to launch
    uint8_t* touched;  // [allocation]: 1 read, 2 written
};
constexpr size_t message_bytes = 1 << 16;

// Generic addresses of shared memory.
constexpr uint64_t kSharedWindow = 0x7F00000000000000;
constexpr uint64_t kSharedWindowSize = 1 << 24;
enum Space { kGeneric, kGlobal, kShared, kParam };

constexpr size_t stack_bytes = 64 << 10;

// Of a byte of memory: its last write, and its last reads by two threads.
struct Cell {
    uint32_t writer, write_tick, readers[2], read_ticks[2];
    uint16_t write_site, read_sites[2];
    uint8_t atomic_write, written;
};
static_assert(sizeof(Cell) == 32, "as in device.py");

enum class Waits : uint8_t { no, for_warp, for_barrier, ended };

struct Block;
struct Warp;
struct Launch;

struct Thread {
    uint32_t tid = 0, id = 0;  // in the block, in the grid
    Block* block = nullptr;
    Warp* warp = nullptr;
    void* stack_pointer = nullptr;
    // When it last met its warp, and other threads at a barrier with a number that is not 0.
    uint32_t warp_tick = 0, named_tick = 0, named = 0;
    uint32_t site = 0, mask = 0;
    Waits waits = Waits::no;
    uint32_t value = 0, result = 0;  // of a shuffle or vote
    int32_t from = -1;

    Launch& launch() const;
    const uint8_t* params() const;
    uint32_t block_index() const;

    // memory.h
    template <Space space, bool is_volatile, class T, int n>
    void load(T (&v)[n], uint64_t address, uint32_t site);
    template <Space space, bool is_volatile, class T, int n>
    void store(const T (&v)[n], uint64_t address, uint32_t site);
    template <Space space, class T>
    T atomic_add(uint64_t address, T value, uint32_t site);
    template <Space space, class T>
    T atomic_cas(uint64_t address, T expected, T desired, uint32_t site);
    template <Space space, class T, int n>
    uint8_t* checked(uint64_t address, uint32_t site, int kind);
    void record(Cell* cells, uint64_t offset, uint64_t size, uint32_t site, int kind);

    // synchronization.h
    void barrier(uint32_t number, uint32_t count, uint32_t site);
    void warp_sync(uint32_t mask, uint32_t site);
    struct Shuffled {
        uint32_t value;
        bool valid;
    };
    Shuffled shuffle(int mode, uint32_t a, uint32_t b, uint32_t c, uint32_t mask, uint32_t site);
    uint32_t ballot(bool wants, uint32_t mask, uint32_t site);
    void maybe_preempt();
    bool meet_warp(uint32_t mask, uint32_t site, bool same_site);
};

struct Warp {
    Thread* lanes[32];
    uint32_t size = 0, alive = 0;
    uint32_t bar_site = 0, bar_lanes = 0;  // lanes that wait at a barrier
};

struct Barrier {
    uint32_t wanted = 0;
    std::vector<Thread*> waiting;
};

struct Block {
    uint32_t index, tick = 0;
    std::vector<uint8_t> shared;
    std::vector<Cell> shadow;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    Barrier barriers[16];
};

// Stores the registers that a function must keep on the stack, and goes on with another stack.
extern "C" void ptx_switch(void** from, void* to);
#if !defined(__x86_64__)
#error "the switch between fibres is written for x86-64"
#endif
asm(R"(
.text
.type ptx_switch,@function
ptx_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

static void ptx_kernel(Thread& t);

struct Launch {
    Request request{};
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<Thread*> ready;
    std::vector<const Allocation*> hints;  // by site: where its last access was
    void* scheduler = nullptr;
    Thread* current = nullptr;
    void* stacks = nullptr;
    size_t stacks_bytes = 0;
    uint32_t static_shared = 0, tick = 1, first_tick = 1;
    uint32_t block_threads = 0, num_blocks = 0, done = 0;
    uint64_t state = 1;
    bool failed = false;
    std::string message;
    std::set<std::tuple<uint32_t, uint32_t, int>> reported;

    uint32_t dynamic_begin() const { return (static_shared + 15) / 16 * 16; }
    uint32_t num_threads() const { return num_blocks * block_threads; }
    uint64_t random() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state * 0x2545F4914F6CDD1D >> 16;
    }
    void say(const char* format, ...) __attribute__((format(printf, 2, 3))) {
        char line[512];
        va_list list;
        va_start(list, format);
        vsnprintf(line, sizeof line, format, list);
        va_end(list);
        if (message.size() + sizeof line < message_bytes) message += std::string(line) + "\n";
    }
    void yield() { ptx_switch(&current->stack_pointer, scheduler); }
    // Ends the launch from a fibre.
    [[noreturn]] void fail() {
        failed = true;
        yield();
        __builtin_unreachable();
    }
    void wake(Thread* t) {
        t->waits = Waits::no;
        ready.push_back(t);
    }
    // Lets a thread run until it yields.
    void resume(Thread* t) {
        current = t;
        ptx_switch(&scheduler, t->stack_pointer);
        done += t->waits == Waits::ended;
    }
};

// The launch that runs now: one at a time does.
static Launch* g;

inline Launch& Thread::launch() const { return *g; }
inline const uint8_t* Thread::params() const { return g->request.params; }
inline uint32_t Thread::block_index() const { return block->index; }
