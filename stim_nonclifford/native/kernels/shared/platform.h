// The differences between C++ and CUDA. The headers of this folder compile as both, without a standard library:
// NVRTC has none.
#pragma once

#if defined(__CUDACC_RTC__)
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using int32_t = int;
using int64_t = long long;
#else
#include <cstdint>
#endif

#if defined(__CUDACC__)
#define SNC_HOST_DEVICE __host__ __device__ __forceinline__
// For functions that are seldom called: inlined, they would take registers from the rest.
#define SNC_HOST_DEVICE_CALLED __host__ __device__ __noinline__
// Before loops of seldom more than one or two iterations, which the compiler would unroll four- to sixteenfold.
#define SNC_NOT_UNROLLED _Pragma("unroll 1")
#else
// Always inlined: the CPU engine is compiled for several instruction sets, and a function that is not inlined
// could be taken from any of them.
#define SNC_HOST_DEVICE inline __attribute__((always_inline))
#define SNC_HOST_DEVICE_CALLED SNC_HOST_DEVICE
#define SNC_NOT_UNROLLED
#endif

namespace snc {

// Four numbers that are read and written at once.
struct alignas(16) Four {
    uint32_t numbers[4];
};

struct Product {
    uint64_t high, low;
};

SNC_HOST_DEVICE Product multiply(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__)
    return {__umul64hi(a, b), a * b};
#else
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
#endif
}

SNC_HOST_DEVICE bool is_odd(uint64_t bits) {
#if defined(__CUDA_ARCH__)
    return (__popcll(bits) & 1) != 0;
#else
    return __builtin_parityll(bits) != 0;
#endif
}

// The position of the lowest set bit of a word that is not 0.
SNC_HOST_DEVICE uint32_t lowest_bit(uint64_t bits) {
#if defined(__CUDA_ARCH__)
    return static_cast<uint32_t>(__ffsll(static_cast<long long>(bits)) - 1);
#else
    return static_cast<uint32_t>(__builtin_ctzll(bits));
#endif
}

// a * b + c, rounded once. No other products and sums are fused, so that all machines round alike.
SNC_HOST_DEVICE double fused(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
    return fma(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

SNC_HOST_DEVICE double square_root(double a) {
#if defined(__CUDA_ARCH__)
    return sqrt(a);
#else
    return __builtin_sqrt(a);
#endif
}

// The value, negated if a bit is set.
SNC_HOST_DEVICE double signed_by(uint32_t bits, uint32_t place, double value) {
#if defined(__CUDA_ARCH__)
    // Integer operations: those on doubles are scarce.
    const int sign = static_cast<int>(bits << (31 - place) & 0x80000000);
    return __hiloint2double(__double2hiint(value) ^ sign, __double2loint(value));
#else
    return (bits >> place & 1) != 0 ? -value : value;
#endif
}

SNC_HOST_DEVICE double magnitude(double a) { return a < 0 ? -a : a; }

SNC_HOST_DEVICE constexpr uint32_t words_for(uint32_t bits) { return (bits + 63) / 64; }

}  // namespace snc
