// Phases that are applied to the stored coefficient vector, and a MEASURE that needs them.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include "cpu/coefficient_kernel.h"
#include "cpu/complex_block.h"

namespace snc::SNC_ISA {

static_assert(index_lane_bits == lane_bits);

inline uint64_t parities_of(const Phases& phases, uint64_t block) {
    uint64_t sum = 0;
    for (; block != 0; block &= block - 1) sum ^= phases.columns[std::countr_zero(block)];
    return sum;
}

// `groups` is their number, or 0: any.
template <int groups>
inline ComplexBlock phase_at(const Phases& phases, uint64_t parities) {
    const auto entry = [&](uint32_t g) { return complex_at(phases.rows[g], parities >> (8 * g) & 0xFF); };
    ComplexBlock phase = entry(0);
    const uint32_t count = groups != 0 ? groups : phases.num_groups;
    for (uint32_t g = 1; g < count; ++g) phase = phase * entry(g);
    return phase;
}

// Calls use with the number of groups as a constant, or with 0 for any number.
template <typename Use>
inline void with_groups(uint32_t groups, Use use) {
    switch (groups) {
        case 1: return use(std::integral_constant<int, 1>{});
        case 2: return use(std::integral_constant<int, 2>{});
        default: return use(std::integral_constant<int, 0>{});
    }
}

inline void multiply_rows(double* rows, size_t num_rows, bool doubles, uint32_t parities, uint64_t z, double cosine,
                          double sine) {
    const Block signs = lane_signs(0, z);
    const ComplexBlock factor{all(cosine), signs * -sine}, conjugate{all(cosine), signs * sine};
    for (size_t r = 0; r < num_rows; ++r) {
        double* row = rows + 2 * lanes * r;
        const ComplexBlock old = complex_at(row, 0);
        const bool is_odd = odd(r & parities);
        put_complex(row, 0, old * (is_odd ? conjugate : factor));
        if (doubles) put_complex(row, num_rows, old * (is_odd ? factor : conjugate));
    }
}

inline void apply_phases(double* vector, const Phases& phases) {
    const int old_bits = phases.width_before - lane_bits;
    const uint64_t old_blocks = uint64_t{1} << old_bits;
    const uint64_t copies = uint64_t{1} << (phases.width_after - phases.width_before);
    uint64_t of_copy[64];
    for (uint64_t c = 0; c < copies; ++c) of_copy[c] = parities_of(phases, c << old_bits);
    with_groups(phases.num_groups, [&](auto groups) {
        BlockWalk parities(phases.columns, old_bits, 0);
        for (uint64_t a = 0; a < old_blocks; ++a) {
            const ComplexBlock old = complex_at(vector, a);
            for (uint64_t c = 0; c < copies; ++c)
                put_complex(vector, c * old_blocks + a, old * phase_at<groups>(phases, parities.now() ^ of_copy[c]));
            parities.advance(a);
        }
    });
}

// For every block a of the vector w with all coordinates, of those with pivot bit 0, calls
//     use(r, D, v[a], v[partner] in the order of a's lanes, f).
// v is the stored vector, repeated once for each value of the coordinates that are not stored; D is the product
// of the phases at a; P takes the partner's amplitude to a with the factor f, or i f if P is not real, times
// `sign`; f is the same for all a if P is `simple`. r is a's number without the pivot's bit; v is not read there
// any more once use is called.
template <int groups, bool simple, typename Use>
[[gnu::always_inline]] inline void for_each_pair_through(const double* vector, const Phases& phases,
                                                         const Operation& measurement, double sign, Use use) {
    const int old_bits = phases.width_before - lane_bits;
    const uint64_t old_blocks = uint64_t{1} << old_bits;
    const int pivot = measurement.pivot - lane_bits;
    const uint64_t x = measurement.x >> lane_bits, z = measurement.z >> lane_bits;
    const Block signs = lane_signs(measurement.x, measurement.z) * power_of_i(sign, measurement.i_power).value;
    const LaneExchange lane_partner(measurement.x);
    const auto at = [&](uint64_t block) { return complex_at(vector, block); };
    const auto in_order = [&](const ComplexBlock& v) { return simple ? v : exchanged(v, lane_partner); };
    const auto factor = [&](uint64_t partner) { return simple ? signs : signs * sign_of(partner & z); };
    if (phases.width_before == phases.width_after) {
        BlockWalk parities(phases.columns, old_bits, uint64_t{1} << pivot);
        for (uint64_t r = 0; r < old_blocks / 2; ++r) {
            const uint64_t a = insert_zero(r, pivot), b = a ^ x;
            use(r, phase_at<groups>(phases, parities.now()), at(a), in_order(at(b)), factor(b));
            parities.advance(r);
        }
        return;
    }
    // Copies of v lie one after another, and the pivot tells copies apart. Blocks a and a ^ old_x within the
    // copies are each other's partners.
    const uint64_t old_x = x & (old_blocks - 1), copy_x = x >> old_bits;
    const int copy_pivot = pivot - old_bits;
    const uint64_t copies = uint64_t{1} << (phases.width_after - phases.width_before - 1);
    uint64_t of_copy[32];
    for (uint64_t c = 0; c < copies; ++c) of_copy[c] = parities_of(phases, insert_zero(c, copy_pivot) << old_bits);
    const auto partner_of = [&](uint64_t c, uint64_t block) {
        return (insert_zero(c, copy_pivot) ^ copy_x) << old_bits | (block ^ old_x);
    };
    if (old_x == 0) {
        BlockWalk parities(phases.columns, old_bits, 0);
        for (uint64_t a = 0; a < old_blocks; ++a) {
            const ComplexBlock v = at(a), v_exchanged = in_order(v);
            for (uint64_t c = 0; c < copies; ++c)
                use(c << old_bits | a, phase_at<groups>(phases, parities.now() ^ of_copy[c]), v, v_exchanged,
                    factor(partner_of(c, a)));
            parities.advance(a);
        }
        return;
    }
    const int top = highest_bit(old_x);
    const uint64_t parities_of_x = parities_of(phases, old_x);
    BlockWalk parities(phases.columns, old_bits, uint64_t{1} << top);
    for (uint64_t r = 0; r < old_blocks / 2; ++r) {
        const uint64_t a = insert_zero(r, top), b = a ^ old_x;
        const ComplexBlock v_a = at(a), v_b = at(b), a_exchanged = in_order(v_a), b_exchanged = in_order(v_b);
        for (uint64_t c = 0; c < copies; ++c) {
            const uint64_t here = parities.now() ^ of_copy[c];
            const ComplexBlock u_a = phase_at<groups>(phases, here);
            const ComplexBlock u_b = phase_at<groups>(phases, here ^ parities_of_x);
            use(c << old_bits | a, u_a, v_a, b_exchanged, factor(partner_of(c, a)));
            use(c << old_bits | b, u_b, v_b, a_exchanged, factor(partner_of(c, b)));
        }
        parities.advance(r);
    }
}

// Whether P has no signs and does not permute lanes.
inline bool is_simple(const Operation& measurement) {
    return measurement.z == 0 && (measurement.x & (lanes - 1)) == 0;
}

// Calls use with constants: the number of groups, whether P is simple, and whether it is real.
template <typename Use>
inline void with_constants(const Phases& phases, const Operation& measurement, Use use) {
    with_groups(phases.num_groups, [&](auto groups) {
        with_flag(is_simple(measurement), [&](auto simple) {
            with_flag(power_of_i(1.0, measurement.i_power).real, [&](auto real) { use(groups, simple, real); });
        });
    });
}

// The squared norm of v, and the sum of Re(conj(v) D P v) over the blocks with pivot bit 0; lane by lane.
struct Overlap {
    Block norm, overlap;
};

inline Overlap overlap_through(const double* vector, const Phases& phases, const Operation& measurement) {
    Block overlap{}, norm{};
    with_constants(phases, measurement, [&](auto groups, auto simple, auto real) {
        Block sum{};
        const auto add = [&](uint64_t, const ComplexBlock& d, const ComplexBlock& v, const ComplexBlock& partner,
                             const Block& f) {
            const Block t_r = v.re * partner.re + v.im * partner.im, t_i = v.re * partner.im - v.im * partner.re;
            const Block one = real ? d.re * t_r - d.im * t_i : -(d.re * t_i + d.im * t_r);
            sum += simple ? one : f * one;
        };
        for_each_pair_through<groups, simple>(vector, phases, measurement, 1.0, add);
        overlap = simple ? sum * power_of_i(1.0, measurement.i_power).value : sum;
    });
    for (uint64_t a = 0; a < uint64_t{1} << (phases.width_before - lane_bits); ++a) norm += square(complex_at(vector, a));
    return {norm, overlap};
}

// The same where blocks a and a ^ old_x of the stored vector are partners, in different copies of it, of a P
// that is simple, with one table of phases: both share conj(v[a]) v[a ^ old_x], and the sum of their phases is
// a table too.
inline Overlap overlap_of_partners(const double* vector, const Phases& phases, const Operation& measurement) {
    const int old_bits = phases.width_before - lane_bits;
    const uint64_t old_x = (measurement.x >> lane_bits) & ((uint64_t{1} << old_bits) - 1);
    const int copy_pivot = measurement.pivot - phases.width_before;
    const uint64_t parities_of_x = parities_of(phases, old_x);
    const bool real = power_of_i(1.0, measurement.i_power).real;
    alignas(64) double sums[2 * lanes << 8];
    for (uint64_t row = 0; row < phases.rows_of_first; ++row) {
        const ComplexBlock own = complex_at(phases.rows[0], row), other = complex_at(phases.rows[0], row ^ parities_of_x);
        // The parts that are needed of the product with T = conj(v[a]) v[partner], and of that with conj(T).
        put_complex(sums, row, ComplexBlock{real ? own.re + other.re : -(own.im + other.im), real ? other.im - own.im : other.re - own.re});
    }
    const uint64_t copies = uint64_t{1} << (phases.width_after - phases.width_before - 1);
    const int top = highest_bit(old_x);
    Block norm{}, sum{};
    for (uint64_t c = 0; c < copies; ++c) {
        const uint64_t of_copy = parities_of(phases, insert_zero(c, copy_pivot) << old_bits);
        BlockWalk parities(phases.columns, old_bits, uint64_t{1} << top);
        for (uint64_t r = 0; r < uint64_t{1} << (old_bits - 1); ++r) {
            const uint64_t a = insert_zero(r, top), b = a ^ old_x, row = (parities.now() ^ of_copy) & 0xFF;
            const ComplexBlock v_a = complex_at(vector, a), v_b = complex_at(vector, b), factor = complex_at(sums, row);
            sum += factor.re * (v_a.re * v_b.re + v_a.im * v_b.im) + factor.im * (v_a.re * v_b.im - v_a.im * v_b.re);
            if (c == 0) norm += square(v_a) + square(v_b);
            parities.advance(r);
        }
    }
    return {norm, sum * power_of_i(1.0, measurement.i_power).value};
}

inline OutcomeWeights weights_through(const double* vector, const Phases& phases, const Operation& measurement) {
    const int activated = phases.width_after - phases.width_before;
    const uint64_t old_blocks = uint64_t{1} << (phases.width_before - lane_bits);
    const bool has_partners = activated > 0 && (measurement.x >> lane_bits & (old_blocks - 1)) != 0;
    const bool shares = has_partners && phases.num_groups == 1 && is_simple(measurement);
    const auto [norm, overlap] = shares ? overlap_of_partners(vector, phases, measurement)
                                        : overlap_through(vector, phases, measurement);
    const double half = 0.5 * total(norm), difference = std::ldexp(total(overlap), -activated);
    return {half + difference, half - difference};
}

inline void project_through(const double* from, double* to, const Phases& phases, const Operation& measurement, bool outcome) {
    const bool minus = outcome != (power_of_i(1.0, measurement.i_power).value < 0);
    with_constants(phases, measurement, [&](auto groups, auto simple, auto real) {
        with_flag(minus, [&](auto is_minus) {
            const auto write = [=](uint64_t r, const ComplexBlock& d, const ComplexBlock& v, const ComplexBlock& partner,
                                   const Block& f) {
                const ComplexBlock p = simple ? partner : f * partner;
                const ComplexBlock turned = d * (real ? p : ComplexBlock{-p.im, p.re});
                put_complex(to, r, is_minus && simple ? v - turned : v + turned);  // otherwise f has the sign
            };
            for_each_pair_through<groups, simple>(from, phases, measurement, outcome ? -1.0 : 1.0, write);
        });
    });
}

}  // namespace snc::SNC_ISA
