// Blocks of eight numbers, the unit of arithmetic of all kernels, and their places in a coefficient vector.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace. A vector is stored in blocks of eight
// coefficients, first their real parts, then their imaginary parts: the low three bits of an index are the lane. Each lane
// does the same arithmetic in every instruction set. Sums are taken lane by lane and then in a fixed order, so that all
// instruction sets round alike.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace snc::SNC_ISA {

constexpr int lane_bits = 3;
constexpr uint64_t lanes = uint64_t{1} << lane_bits;

inline bool odd(uint64_t bits) { return (std::popcount(bits) & 1) != 0; }
inline double sign_of(uint64_t bits) { return odd(bits) ? -1.0 : 1.0; }

// A block consists of as many registers as it needs: compilers keep vectors larger than a register in memory.
template <typename Half>
struct Halves {
    Half low, high;

    Halves operator-() const { return {-low, -high}; }
    friend Halves operator+(const Halves& a, const Halves& b) { return {a.low + b.low, a.high + b.high}; }
    friend Halves operator-(const Halves& a, const Halves& b) { return {a.low - b.low, a.high - b.high}; }
    friend Halves operator*(const Halves& a, const Halves& b) { return {a.low * b.low, a.high * b.high}; }
    friend Halves operator/(const Halves& a, const Halves& b) { return {a.low / b.low, a.high / b.high}; }
    friend Halves operator*(const Halves& a, double b) { return {a.low * b, a.high * b}; }
    Halves& operator+=(const Halves& b) { return *this = *this + b; }
    Halves& operator*=(double b) { return *this = *this * b; }
};

#if defined(__AVX512F__)
constexpr uint64_t register_lanes = 8;
#elif defined(__AVX2__)
constexpr uint64_t register_lanes = 4;
#else
constexpr uint64_t register_lanes = 2;
#endif
using Register = double __attribute__((vector_size(register_lanes * sizeof(double))));
using RegisterIndex = int64_t __attribute__((vector_size(register_lanes * sizeof(int64_t))));
#if defined(__AVX512F__)
using Block = Register;
#elif defined(__AVX2__)
using Block = Halves<Register>;
#else
using Block = Halves<Halves<Register>>;
#endif

// A block of the registers make(first lane).
template <typename Part = Block, typename Make>
[[gnu::always_inline]] inline Part by_registers(Make make, uint64_t first = 0) {
    if constexpr (std::is_same_v<Part, Register>) {
        return make(first);
    } else {
        using Half = decltype(Part::low);
        return {by_registers<Half>(make, first), by_registers<Half>(make, first + sizeof(Half) / sizeof(double))};
    }
}

// A block of the registers change(registers of the given blocks).
template <typename Change, typename Part, typename... Parts>
[[gnu::always_inline]] inline Part changed(Change change, const Part& part, const Parts&... others) {
    if constexpr (std::is_same_v<Part, Register>)
        return change(part, others...);
    else
        return {changed(change, part.low, others.low...), changed(change, part.high, others.high...)};
}

// Calls use(register, its first lane).
template <typename Use, typename Part>
[[gnu::always_inline]] inline void for_each_register(Use use, const Part& part, uint64_t first = 0) {
    if constexpr (std::is_same_v<Part, Register>) {
        use(part, first);
    } else {
        for_each_register(use, part.low, first);
        for_each_register(use, part.high, first + sizeof(part.low) / sizeof(double));
    }
}

inline Block load(const double* from) {
    return by_registers([=](uint64_t first) {
        Register value;
        __builtin_memcpy(&value, from + first, sizeof value);
        return value;
    });
}
inline void store(double* to, const Block& block) {
    for_each_register([=](Register value, uint64_t first) { __builtin_memcpy(to + first, &value, sizeof value); }, block);
}

// The places of the parts of a coefficient in the vector.
inline uint64_t re_at(uint64_t index) { return (index & ~(lanes - 1)) + index; }
inline uint64_t im_at(uint64_t index) { return re_at(index) + lanes; }

inline Block all(double value) {
    return by_registers([=](uint64_t) { return value - Register{}; });
}

// a * b + c, rounded once, even without such an instruction, so that all instruction sets round alike.
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline Block fused(const Block& a, const Block& b, const Block& c) {
    return changed(
        [](Register p, Register q, Register r) {
#if defined(__AVX512F__)
            return (Register)_mm512_fmadd_pd((__m512d)p, (__m512d)q, (__m512d)r);
#elif defined(__FMA__)
            return (Register)_mm256_fmadd_pd((__m256d)p, (__m256d)q, (__m256d)r);
#elif defined(__aarch64__)
            return (Register)vfmaq_f64((float64x2_t)r, (float64x2_t)p, (float64x2_t)q);
#else
            for (uint64_t lane = 0; lane < register_lanes; ++lane) r[lane] = fused(p[lane], q[lane], r[lane]);
            return r;
#endif
        },
        a, b, c);
}

inline Block square_roots(const Block& block) {
    return changed(
        [](Register value) {
#if defined(__AVX512F__)
            // The plain one begins with a variable without a value, of which GCC 12 warns.
            return (Register)_mm512_maskz_sqrt_pd(0xFF, (__m512d)value);
#elif defined(__AVX2__)
            return (Register)_mm256_sqrt_pd((__m256d)value);
#elif defined(__aarch64__)
            return (Register)vsqrtq_f64((float64x2_t)value);
#else
            for (uint64_t lane = 0; lane < register_lanes; ++lane) value[lane] = std::sqrt(value[lane]);
            return value;
#endif
        },
        block);
}

// b in the lanes whose bit is set, a in the others.
inline Block chosen(uint64_t mask, const Block& a, const Block& b) {
#if defined(__AVX512F__)
    return (Block)_mm512_mask_blend_pd(static_cast<__mmask8>(mask), (__m512d)a, (__m512d)b);
#else
    const Block bits = by_registers([=](uint64_t first) {
        RegisterIndex bit;
        for (uint64_t lane = 0; lane < register_lanes; ++lane) bit[lane] = int64_t{1} << (first + lane);
        return (Register)(bit & static_cast<int64_t>(mask));
    });
    return changed([](Register p, Register q, Register bit) { return (RegisterIndex)bit != 0 ? q : p; }, a, b, bits);
#endif
}

// (-1)^|(lane ^ x) & z| for each lane, with the low bits of x and z.
inline Block lane_signs(uint64_t x, uint64_t z) {
    // (-1)^|lane & z| for each z.
    static constexpr auto signs = [] {
        std::array<std::array<double, lanes>, lanes> found{};
        for (uint64_t bits = 0; bits < lanes; ++bits)
            for (uint64_t lane = 0; lane < lanes; ++lane) found[bits][lane] = std::popcount(lane & bits) % 2 == 0 ? 1 : -1;
        return found;
    }();
    const Block found = load(signs[z & (lanes - 1)].data());
    return odd(x & z & (lanes - 1)) ? -found : found;
}

// Moves lane k ^ x of a block to lane k, for the low bits of x.
class LaneExchange {
   public:
#if defined(__AVX512F__)
    explicit LaneExchange(uint64_t x = 0) : partner_(RegisterIndex{0, 1, 2, 3, 4, 5, 6, 7} ^ low_bits(x)) {}
    // As with square roots.
    Block operator()(const Block& block) const {
        return (Block)_mm512_maskz_permutexvar_pd(0xFF, (__m512i)partner_, (__m512d)block);
    }

   private:
    RegisterIndex partner_;
#elif defined(__AVX2__)
    // A register has four numbers, each of them two of 32 bits.
    explicit LaneExchange(uint64_t x = 0)
        : within_(_mm256_xor_si256(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                                   _mm256_set1_epi32(static_cast<int32_t>(2 * (low_bits(x) & 3))))),
          swaps_halves_((x & 4) != 0) {}
    Block operator()(const Block& block) const {
        const Register low = exchanged(block.low), high = exchanged(block.high);
        return swaps_halves_ ? Block{high, low} : Block{low, high};
    }

   private:
    Register exchanged(Register half) const { return (Register)_mm256_permutevar8x32_ps((__m256)half, within_); }

    __m256i within_;
    bool swaps_halves_;
#else
    explicit LaneExchange(uint64_t x = 0) : x_(low_bits(x)) {}
    Block operator()(Block block) const {
        if ((x_ & 4) != 0) block = {block.high, block.low};
        if ((x_ & 2) != 0) block = {{block.low.high, block.low.low}, {block.high.high, block.high.low}};
        if ((x_ & 1) != 0) block = changed([](Register pair) { return Register{pair[1], pair[0]}; }, block);
        return block;
    }

   private:
    int64_t x_;
#endif
    static int64_t low_bits(uint64_t x) { return static_cast<int64_t>(x & (lanes - 1)); }
};

inline double total(const Block& sums) {
    double lane[lanes];
    store(lane, sums);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

// Index r with a 0 inserted at bit `bit`.
inline uint64_t insert_zero(uint64_t r, int bit) {
    const uint64_t low = r & ((uint64_t{1} << bit) - 1);
    return ((r ^ low) << 1) | low;
}

// Iterates over the blocks with 0 at some bits of their number, in order, and keeps the XOR of the columns of the set bits.
// From r to r + 1, the trailing ones of r and the 0 before them change.
class BlockWalk {
   public:
    // Bits `left_out` of the numbers stay 0.
    [[gnu::always_inline]] BlockWalk(const uint64_t* columns, int bits, uint64_t left_out) {
        uint64_t sum = 0, *change = changes_;
        for (int bit = 0; bit < bits; ++bit)
            if ((left_out >> bit & 1) == 0) *change++ = sum ^= columns[bit];
        *change = 0;
    }
    uint64_t now() const { return now_; }
    // Starts at block r.
    void advance(uint64_t r) { now_ ^= changes_[std::countr_one(r)]; }

   private:
    uint64_t changes_[65];
    uint64_t now_ = 0;
};

inline int highest_bit(uint64_t bits) { return 63 - std::countl_zero(bits); }

// A power of i times a real number; `real` tells whether the product is real or imaginary.
struct PowerOfI {
    double value;
    bool real;
};

// value * i^power
inline PowerOfI power_of_i(double value, int power) {
    return {(power & 2) != 0 ? -value : value, (power & 1) == 0};
}

// Calls use(std::true_type{}) or use(std::false_type{}).
template <typename Use>
inline void with_flag(bool flag, Use use) {
    if (flag)
        use(std::true_type{});
    else
        use(std::false_type{});
}

// Calls use(number) with the number, which is smaller than `end`, as a constant.
template <uint32_t end, uint32_t first = 0, typename Use>
[[gnu::always_inline]] inline void with_number(uint32_t number, Use use) {
    if constexpr (first < end) {
        if (number == first) return use(std::integral_constant<uint32_t, first>{});
        with_number<end, first + 1>(number, use);
    }
}

}  // namespace snc::SNC_ISA
