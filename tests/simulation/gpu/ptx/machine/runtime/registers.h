// Values of registers and of memory, and the instructions that C++ has no operators for.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

// The bits as another type of this size, or an integer as another integer.
template <class T, class U>
static inline T as(U u) {
    if constexpr (std::is_same_v<T, U>) {
        return u;
    } else if constexpr (sizeof(T) == sizeof(U) && !std::is_same_v<T, bool> && !std::is_same_v<U, bool>) {
        T t;
        memcpy(&t, &u, sizeof t);
        return t;
    } else {
        static_assert(std::is_integral_v<T> && std::is_integral_v<U> && !std::is_same_v<T, bool> && !std::is_same_v<U, bool>);
        return static_cast<T>(u);
    }
}
template <class R, class V>
static inline void put(R& r, V v) {
    r = as<R>(v);  // a narrower signed number is extended by its sign, as PTX does
}
template <class T>
static inline T from_memory(const void* p) {
    T t;
    memcpy(&t, p, sizeof t);
    return t;
}
template <class T>
static inline void to_memory(void* p, T t) {
    memcpy(p, &t, sizeof t);
}

static inline uint32_t bit_reversed(uint32_t x) {
    uint32_t r = 0;
    for (int k = 0; k < 32; ++k) r |= (x >> k & 1) << (31 - k);
    return r;
}
static inline uint64_t bit_reversed(uint64_t x) {
    return uint64_t{bit_reversed(uint32_t(x))} << 32 | bit_reversed(uint32_t(x >> 32));
}
static inline uint32_t leading_zeros(uint32_t x) { return x ? __builtin_clz(x) : 32; }
static inline uint32_t leading_zeros(uint64_t x) { return x ? __builtin_clzll(x) : 64; }
template <class T>
static inline T shifted_left(T x, uint32_t by) {
    return by >= 8 * sizeof(T) ? T{0} : T(x << by);
}
template <class T>
static inline T shifted_right(T x, uint32_t by) {
    constexpr uint32_t bits = 8 * sizeof(T);
    return by >= bits ? (std::is_signed_v<T> ? T(x >> (bits - 1)) : T{0}) : T(x >> by);
}
template <class T>
static inline T bits_inserted(T a, T b, uint32_t position, uint32_t length) {
    position &= 255;
    length &= 255;
    T r = b;
    for (uint32_t k = 0; k < length && position + k < 8 * sizeof(T); ++k)
        r = (r & ~(T{1} << (position + k))) | ((a >> k & 1) << (position + k));
    return r;
}
