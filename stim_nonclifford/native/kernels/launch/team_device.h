// Threads that work together, on the GPU. `native/device/team_host.h` has the same, run one after another.
//
// A kernel is a sequence of sections. Between sections, all threads of the team do the same with the same values. In a section,
// each thread has its own indices, and the team synchronizes at its end.
#pragma once

#include "kernels/shared/platform.h"

namespace snc {

// The types of CUDA's atomic functions.
template <uint32_t bytes>
struct AtomicWord {
    using Type = unsigned int;
};
template <>
struct AtomicWord<8> {
    using Type = unsigned long long;
};

struct alignas(16) SumPair {
    double first, second;
};

template <uint32_t team_size, uint32_t block_threads>
class DeviceTeam {
    static_assert(team_size % 32 == 0 && block_threads % team_size == 0, "whole warps and teams");
    static constexpr uint32_t num_teams = block_threads / team_size;
    static_assert(team_size == 32 || num_teams <= 15, "as many as have barriers of their own");

   public:
    __device__ __forceinline__ explicit DeviceTeam(uint8_t* shared) : shared_(shared) {}

    __device__ __forceinline__ static constexpr uint32_t size() { return team_size; }
    // The team's number in its block of threads, and in the grid.
    __device__ __forceinline__ uint32_t index_in_block() const { return threadIdx.x / team_size; }
    __device__ __forceinline__ uint32_t index() const { return blockIdx.x * num_teams + index_in_block(); }
    __device__ __forceinline__ uint8_t* shared() const { return shared_; }

    // Sections.
    template <typename Use>
    __device__ __forceinline__ void for_each(uint32_t count, Use use) {
        // One index at a time: more would take registers, and there are enough warps.
#pragma unroll 1
        for (uint32_t k = rank(); k < count; k += team_size) use(k);
        meet();
    }
    // The same over the threads of the thread block, all of which must call it.
    template <typename Use>
    __device__ __forceinline__ void block_for_each(uint32_t count, Use use) {
        for (uint32_t k = threadIdx.x; k < count; k += block_threads) use(k);
        __syncthreads();
    }
    // Over the threads of the grid. Whole warps take part in each call of use(k, k < count).
    template <typename Use>
    __device__ __forceinline__ void grid_for_each(uint64_t count, Use use) {
        const uint64_t padded = (count + 31) / 32 * 32;
        for (uint64_t k = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < padded;
             k += uint64_t{gridDim.x} * blockDim.x)
            use(k, k < count);
    }
    // As `for_each`, but whole warps take part in each call of use(k, k < count), and the team does not meet at the end.
    template <typename Use>
    __device__ __forceinline__ void for_each_in_warps(uint32_t count, Use use) {
        const uint32_t padded = (count + 31) / 32 * 32;
#pragma unroll 1
        for (uint32_t k = rank(); k < padded; k += team_size) use(k, k < count);
    }
    // First reads, then writes, in batches: an index may write an entry that another index, up to team_size * batch higher or
    // lower, reads.
    template <typename Value, typename Read, typename Write>
    __device__ __forceinline__ void read_then_write(uint32_t count, Read read, Write write) {
        constexpr uint32_t batch = 4;
        for (uint32_t begin = 0; begin < count; begin += team_size * batch) {
            Value values[batch];
#pragma unroll
            for (uint32_t j = 0; j < batch; ++j) {
                const uint32_t k = begin + j * team_size + rank();
                if (k < count) values[j] = read(k);
            }
            meet();
#pragma unroll
            for (uint32_t j = 0; j < batch; ++j) {
                const uint32_t k = begin + j * team_size + rank();
                if (k < count) write(k, values[j]);
            }
            meet();
        }
    }

    // values[k] <- sum of the numbers 0 .. k - 1, for k <= count. make(j) returns numbers 4 j .. 4 j + 3; each thread calls it
    // for several j. count is a multiple of 4 * team_size. `scratch` has 32 entries; both begin at multiples of 16 bytes.
    template <typename Make>
    __device__ __forceinline__ void exclusive_sums(uint32_t* values, uint32_t count, uint32_t* scratch, Make make) {
        constexpr uint32_t num_warps = team_size / 32;
        static_assert(2 * num_warps <= 32, "one half of scratch is written while the other one is still read");
        static_assert(num_warps % 4 == 0, "four sums are read at once");
        const uint32_t lane = threadIdx.x % 32, warp = rank() / 32;
        uint32_t carry = 0, half = 0;
#pragma unroll 1
        for (uint32_t j = rank(); j < count / 4; j += team_size) {
            const Four made = make(j);
            const uint32_t(&n)[4] = made.numbers;
            const uint32_t own = n[0] + n[1] + n[2] + n[3];
            const uint32_t sum = inclusive_sum(own);
            if (lane == 31) scratch[half + warp] = sum;
            meet();
            uint32_t before = carry + sum - own;
            for (uint32_t w = 0; w < num_warps; w += 4) {
                const Four sums = reinterpret_cast<const Four*>(scratch + half)[w / 4];
                for (uint32_t k = 0; k < 4; ++k) {
                    if (w + k < warp) before += sums.numbers[k];
                    carry += sums.numbers[k];
                }
            }
            half = num_warps - half;
            reinterpret_cast<Four*>(values)[j] = {{before, before + n[0], before + n[0] + n[1], before + n[0] + n[1] + n[2]}};
        }
        if (rank() == 0) values[count] = carry;
        meet();
    }

    // A section that computes a pair of sums, if they are wanted: thread by thread, then over the lanes of a warp, then
    // over the warps.
    template <typename Term>
    __device__ __forceinline__ void sums(uint32_t count, bool wanted, Term term, double& first, double& second) {
        double a = 0, b = 0;
#pragma unroll 1
        for (uint32_t k = rank(); k < count; k += team_size) term(k, a, b);
        if (!wanted) {
            meet();
            return;
        }
        for (uint32_t step = 16; step > 0; step /= 2) {
            a += __shfl_xor_sync(all_lanes, a, step);
            b += __shfl_xor_sync(all_lanes, b, step);
        }
        if constexpr (team_size > 32) {
            SumPair* parts = partial_sums();
            if (threadIdx.x % 32 == 0) parts[rank() / 32] = {a, b};
            meet();
            a = b = 0;
            for (uint32_t w = 0; w < team_size / 32; ++w) {
                const SumPair part = parts[w];  // in one access
                a = w == 0 ? part.first : a + part.first;
                b = w == 0 ? part.second : b + part.second;
            }
        }
        meet();
        first = a;
        second = b;
    }

    // One thread takes the next number of a counter for the whole team, which meets here, and has to meet once more before it
    // takes another number.
    __device__ __forceinline__ uint64_t take(uint64_t* counter) {
        uint64_t value = 0;
        if constexpr (team_size == 32) {
            if (rank() == 0) value = add(counter, uint64_t{1});
            meet();
            return __shfl_sync(all_lanes, value, 0);
        } else {
            auto* slot = reinterpret_cast<uint64_t*>(partial_sums());
            if (rank() == 0) *slot = add(counter, uint64_t{1});
            meet();
            return *slot;
        }
    }

    // For single threads. All lanes of the warp call `append`, which returns a number to each lane that wants one.
    __device__ __forceinline__ uint64_t append(uint64_t* counter, bool wants) {
        const uint32_t wanting = __ballot_sync(all_lanes, wants);
        if (wanting == 0) return 0;
        const uint32_t lane = threadIdx.x % 32, leader = __ffs(static_cast<int>(wanting)) - 1;
        uint64_t first = 0;
        if (lane == leader) first = add(counter, static_cast<uint64_t>(__popc(wanting)));
        first = __shfl_sync(all_lanes, first, static_cast<int>(leader));
        return first + static_cast<uint64_t>(__popc(wanting & ((1u << lane) - 1)));
    }
    template <typename T>
    __device__ __forceinline__ static T add(T* counter, T value) {
        using Word = typename AtomicWord<sizeof(T)>::Type;
        // Without this, the compiler adds code for shared memory.
        __builtin_assume(__isGlobal(counter));
        return atomicAdd(reinterpret_cast<Word*>(counter), static_cast<Word>(value));
    }
    __device__ __forceinline__ static uint32_t add_in_shared(uint32_t* counter, uint32_t value) {
        return atomicAdd(counter, value);
    }
    // Stores `desired` if *word is `expected`. Returns the previous value.
    template <typename T>
    __device__ __forceinline__ static T exchange_if(T* word, T expected, T desired) {
        using Word = typename AtomicWord<sizeof(T)>::Type;
        return atomicCAS(reinterpret_cast<Word*>(word), static_cast<Word>(expected), static_cast<Word>(desired));
    }
    // Reads a word that other threads may be writing.
    template <typename T>
    __device__ __forceinline__ static T read_shared_word(const T* word) {
        return *static_cast<const volatile T*>(word);
    }
    // One thread does it for the team.
    template <typename Use>
    __device__ __forceinline__ void once(Use use) {
        if (leads()) use();
        meet();
    }
    // Whether this thread is the one that acts for the whole team.
    __device__ __forceinline__ bool leads() const { return rank() == 0; }

   private:
    static constexpr uint32_t all_lanes = 0xFFFFFFFF;

    __device__ __forceinline__ uint32_t rank() const { return threadIdx.x % team_size; }
    __device__ __forceinline__ void meet() {
        if constexpr (team_size == 32) {
            __syncwarp();
        } else if constexpr (num_teams == 1) {
            __syncthreads();
        } else {
            // Barrier 0 belongs to the thread block.
            asm volatile("bar.sync %0, %1;" ::"r"(1 + index_in_block()), "n"(team_size) : "memory");
        }
    }
    // The sum of the values of this lane and of those before it in its warp.
    __device__ __forceinline__ static uint32_t inclusive_sum(uint32_t value) {
#pragma unroll
        for (uint32_t step = 1; step < 32; step *= 2) {
            // The shuffle itself tells whether there is such a lane.
            asm volatile(
                "{ .reg .pred is_lane; .reg .b32 other;\n"
                "shfl.sync.up.b32 other|is_lane, %0, %1, 0, 0xffffffff;\n"
                "@is_lane add.u32 %0, %0, other; }"
                : "+r"(value)
                : "r"(step));
        }
        return value;
    }
    __device__ __forceinline__ SumPair* partial_sums() const {
        __shared__ SumPair parts[block_threads / 32];
        return parts + index_in_block() * (team_size / 32);
    }

    uint8_t* shared_;
};

}  // namespace snc
