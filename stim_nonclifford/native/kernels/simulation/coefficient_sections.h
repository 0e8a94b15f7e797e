// Applies each step to the coefficient vector, as sections of a team; see `stim_nonclifford/simulation/engines/coefficients.py`.
#pragma once

#include "kernels/launch/plan_image.h"

namespace snc {

struct alignas(16) Coefficient {
    double re, im;
};

template <uint32_t number>
struct Constant {
    static constexpr uint32_t value = number;
};

// The place of coefficient `index`. Threads that read every second, fourth or eighth coefficient use different banks of
// shared memory.
SNC_HOST_DEVICE uint32_t place(uint32_t index) { return index ^ (index >> 3 & 7); }

// Index r with a 0 inserted at bit `bit`.
SNC_HOST_DEVICE uint32_t insert_zero(uint32_t r, uint32_t bit) {
    const uint32_t low = r & ((uint32_t{1} << bit) - 1);
    return ((r ^ low) << 1) | low;
}

SNC_HOST_DEVICE uint32_t highest_bit(uint32_t bits) {
    uint32_t bit = 0;
    while (bits >>= 1) ++bit;
    return bit;
}

// The coefficient, negated if a bit is set.
SNC_HOST_DEVICE Coefficient signed_by(uint32_t bits, uint32_t place, const Coefficient& c) {
    return {signed_by(bits, place, c.re), signed_by(bits, place, c.im)};
}

// The angle of a rotation, with a cosine of 1 if the norm does not matter.
template <typename IsSet>
SNC_HOST_DEVICE Angle angle_of(const Rotation& rotation, const RotationTerm* terms, IsSet is_set) {
    const Angle sum = sum_of_angles(terms + rotation.first_term, rotation.end_term - rotation.first_term, is_set);
    if (rotation.unit != 0 && magnitude(sum.cosine) >= magnitude(sum.sine)) return {1, sum.sine / sum.cosine};
    return sum;
}

// -i sin P, applied to a coefficient: a real factor, times i unless `is_real`.
struct PauliFactor {
    double value;
    bool is_real;

    SNC_HOST_DEVICE PauliFactor(double number, int32_t i_power)
        : value((i_power & 2) != 0 ? -number : number), is_real((i_power & 1) == 0) {}
};

// One rotation of the 2^span coefficients of a coset: each becomes cosine times itself plus the factor times the
// one that `flips` leads to; the factor has an extra sign where `odd` has the bit of that coefficient's place.
template <uint32_t span, uint32_t flips, bool is_real, bool is_unit>
SNC_HOST_DEVICE void rotate_coset(Coefficient (&coset)[1u << span], double cosine, double factor, uint32_t odd) {
    const auto sum = [&](const Coefficient& own, uint32_t from, const Coefficient& other) {
        const double f = signed_by(odd, from, factor);
        const double re = is_unit ? own.re : cosine * own.re, im = is_unit ? own.im : cosine * own.im;
        return is_real ? Coefficient{fused(f, other.re, re), fused(f, other.im, im)}
                       : Coefficient{fused(-f, other.im, re), fused(f, other.re, im)};
    };
    for (uint32_t e = 0; e < 1u << span; ++e) {
        const uint32_t partner = e ^ flips;
        if (partner < e) continue;
        const Coefficient a = coset[e], b = coset[partner];
        coset[e] = sum(a, partner, b);
        if (flips != 0) coset[partner] = sum(b, e, a);
    }
}

template <uint32_t span, uint32_t flips>
SNC_HOST_DEVICE void rotate_coset(Coefficient (&coset)[1u << span], const Angle& angle, PauliFactor factor, uint32_t odd) {
    if constexpr (flips < (1u << span)) {
        const bool unit = angle.cosine == 1;
        if (factor.is_real && unit) rotate_coset<span, flips, true, true>(coset, 1, factor.value, odd);
        else if (factor.is_real) rotate_coset<span, flips, true, false>(coset, angle.cosine, factor.value, odd);
        else if (unit) rotate_coset<span, flips, false, true>(coset, 1, factor.value, odd);
        else rotate_coset<span, flips, false, false>(coset, angle.cosine, factor.value, odd);
    }
}

// The measurement of a Pauli P on the vector v. The squared norms of the projections follow from that of v, and from the
// inner product <v|P|v>, to which partners a and a ^ x contribute equally: entry by entry, and up to a factor, Re or Im of
// conj(v_a) v_b with the sign of P at b. If a coordinate is activated with the phase exp(-i angle Z) and measured at once, with
// an X or Y on it, P is the rest, and the projections have the size of v: up to a global phase they are
//     v ± exp(2 i angle) P v.

SNC_HOST_DEVICE void add_norm(double& sum, const Coefficient& c) { sum = fused(c.re, c.re, fused(c.im, c.im, sum)); }

// The part of a pair of partners, or of an entry that is its own partner; a has the sign. `is_real`: whether Re contributes.
SNC_HOST_DEVICE void add_overlap(double& sum, const Coefficient& a, const Coefficient& b, bool is_real) {
    sum = is_real ? fused(a.re, b.re, fused(a.im, b.im, sum)) : fused(a.re, b.im, fused(-a.im, b.re, sum));
}
SNC_HOST_DEVICE bool has_real_overlap(const Step& measurement) { return !is_odd(measurement.x & measurement.z); }

// Squared norms of the projections on outcome 0 and 1, up to a common factor.
struct Weights {
    double zero, one;
};

// exp(2 i angle) times the Pauli's power of i.
SNC_HOST_DEVICE Coefficient factor_of(const Step& measurement, const Angle& angle) {
    const double re = angle.cosine * angle.cosine - angle.sine * angle.sine, im = 2 * angle.cosine * angle.sine;
    const double sign = (measurement.i_power & 2) != 0 ? -1 : 1;
    return (measurement.i_power & 1) == 0 ? Coefficient{sign * re, sign * im} : Coefficient{-sign * im, sign * re};
}
SNC_HOST_DEVICE Weights weights_of(const Step& measurement, const Coefficient& factor, double norm, double overlap) {
    const double part = has_real_overlap(measurement) ? factor.re : -factor.im;
    const double product = (measurement.x != 0 ? 2 : 1) * part * overlap;
    return {norm + product, norm - product};
}

// The projection of a weak measurement, up to its norm.
struct WeakProjection {
    Coefficient factor;  // with the sign of the outcome
    double scale;        // by which the vector is multiplied first
};

// v + factor * partner.
SNC_HOST_DEVICE Coefficient sum_with(const Coefficient& v, const Coefficient& factor, const Coefficient& partner) {
    return {fused(factor.re, partner.re, fused(-factor.im, partner.im, v.re)),
            fused(factor.re, partner.im, fused(factor.im, partner.re, v.im))};
}

template <uint32_t span>
SNC_HOST_DEVICE void scale_coset(Coefficient (&coset)[1u << span], double scale) {
    for (uint32_t e = 0; e < 1u << span; ++e) coset[e] = {scale * coset[e].re, scale * coset[e].im};
}

// Bit e of `odd` is the sign of the Pauli at entry e.
template <uint32_t span, uint32_t flips>
SNC_HOST_DEVICE void project_coset(Coefficient (&coset)[1u << span], uint32_t odd, const Coefficient& factor) {
    if constexpr (flips < (1u << span)) {  // NVRTC 12.2 needs both pairs of brackets
        for (uint32_t e = 0; e < 1u << span; ++e) {
            const uint32_t partner = e ^ flips;
            if (partner < e) continue;
            const Coefficient a = coset[e], b = coset[partner];
            coset[e] = sum_with(a, signed_by(odd, partner, factor), b);
            if (flips != 0) coset[partner] = sum_with(b, signed_by(odd, e, factor), a);
        }
    }
}

template <uint32_t span, uint32_t flips>
SNC_HOST_DEVICE void add_overlaps(double& sum, const Coefficient (&coset)[1u << span], uint32_t odd, bool is_real) {
    if constexpr (flips < (1u << span)) {
        for (uint32_t e = 0; e < 1u << span; ++e) {
            const uint32_t partner = e ^ flips;
            if (partner >= e) add_overlap(sum, signed_by(odd, partner, coset[e]), coset[partner], is_real);
        }
    }
}

// Calls use(flips as a constant).
template <typename Use>
SNC_HOST_DEVICE void with_flips(uint32_t flips, Use use) {
    static_assert(max_span == 3, "the cases below");
    switch (flips) {
        case 0: return use(Constant<0>());
        case 1: return use(Constant<1>());
        case 2: return use(Constant<2>());
        case 3: return use(Constant<3>());
        case 4: return use(Constant<4>());
        case 5: return use(Constant<5>());
        case 6: return use(Constant<6>());
        default: return use(Constant<7>());
    }
}

// The work of a pass through the vector besides its rotations: before them, the projection of the previous step; after them,
// the sums from which the weights of the next step follow. Only if the step says so.
struct MeasuredNeighbours {
    const Step& before;
    const WeakProjection& projection;
    const Step& after;
    double& norm;
    double& overlap;
};

// The signs of a Pauli in a coset, as bits.
SNC_HOST_DEVICE uint32_t signs_in_coset(uint32_t first, uint32_t z, uint32_t odd) { return is_odd(first & z) ? ~odd : odd; }

// The rotations of a step, in one pass: a thread takes a coset through its registers.
template <uint32_t span, typename Team>
SNC_HOST_DEVICE void rotate(Team& team, Coefficient* vector, const Step& step, const Rotation* rotations,
                            const Angle* angles, const MeasuredNeighbours& measured) {
    constexpr uint32_t size = 1u << span;
    uint32_t offsets[size] = {0};
    uint32_t pivots[max_span] = {0};
    for (uint32_t j = 0; j < span; ++j) {
        pivots[j] = highest_bit(step.generators[j]);
        for (uint32_t e = 0; e < 1u << j; ++e) offsets[(1u << j) + e] = offsets[e] ^ step.generators[j];
    }
    const uint32_t count = step.end_rotation - step.first_rotation;
    // New coordinates are in |+>, up to the norm: each of their values has a copy of the vector. They are generators.
    const uint32_t old_bits = (uint32_t{1} << step.width) - 1;
    const auto pass = [&](uint32_t r, double& norm, double& overlap) {
        uint32_t first = r;
        for (uint32_t j = 0; j < span; ++j) first = insert_zero(first, pivots[j]);
        Coefficient coset[size];
        for (uint32_t e = 0; e < size; ++e) coset[e] = vector[place((first ^ offsets[e]) & old_bits)];
        if (step.projects != 0) {
            if (measured.projection.scale != 1) scale_coset<span>(coset, measured.projection.scale);
            const uint32_t odd = signs_in_coset(first, measured.before.z, step.projected_odd);
            with_flips(step.projected_flips, [&](auto flips) {
                project_coset<span, decltype(flips)::value>(coset, odd, measured.projection.factor);
            });
        }
        for (uint32_t k = 0; k < count; ++k) {
            const Rotation& rotation = rotations[k];
            const Angle angle = angles[k];
            const PauliFactor factor(signed_by(is_odd(first & rotation.z), 0, angle.sine), rotation.i_power + 3);
            with_flips(rotation.flips, [&](auto flips) {
                rotate_coset<span, decltype(flips)::value>(coset, angle, factor, rotation.odd);
            });
        }
        for (uint32_t e = 0; e < size; ++e) vector[place(first ^ offsets[e])] = coset[e];
        if (step.sums != 0) {
            for (uint32_t e = 0; e < size; ++e) add_norm(norm, coset[e]);
            const uint32_t odd = signs_in_coset(first, measured.after.z, step.summed_odd);
            const bool is_real = has_real_overlap(measured.after);
            with_flips(step.summed_flips, [&](auto flips) {
                add_overlaps<span, decltype(flips)::value>(overlap, coset, odd, is_real);
            });
        }
    };
    team.sums(uint32_t{1} << (step.width + step.grown - span), step.sums != 0, pass, measured.norm, measured.overlap);
}

template <typename Team>
SNC_HOST_DEVICE void rotate(Team& team, Coefficient* vector, const Step& step, const Rotation* rotations,
                            const Angle* angles, const MeasuredNeighbours& measured) {
    switch (step.span) {
        case 0: return rotate<0>(team, vector, step, rotations, angles, measured);
        case 1: return rotate<1>(team, vector, step, rotations, angles, measured);
        case 2: return rotate<2>(team, vector, step, rotations, angles, measured);
        default: return rotate<3>(team, vector, step, rotations, angles, measured);
    }
}

// (cosine + i sine) c
SNC_HOST_DEVICE Coefficient turned(const Coefficient& c, double cosine, double sine) {
    return {fused(cosine, c.re, -(sine * c.im)), fused(cosine, c.im, sine * c.re)};
}

// Activates a coordinate, which becomes the highest bit of the index: [(cos - i sin) v, (cos + i sin) v] / sqrt(2), or,
// about X, [cos v, -i sin v].
template <typename Team>
SNC_HOST_DEVICE void activate(Team& team, Coefficient* vector, const Step& step, const Angle& angle) {
    const uint32_t size = uint32_t{1} << step.width;
    if (step.x != 0) {
        team.for_each(size, [&](uint32_t a) {
            const Coefficient old = vector[place(a)];
            vector[place(a)] = {angle.cosine * old.re, angle.cosine * old.im};
            vector[place(size + a)] = {angle.sine * old.im, -angle.sine * old.re};
        });
        return;
    }
    const double half = square_root(0.5), cosine = half * angle.cosine, sine = half * angle.sine;
    team.for_each(size, [&](uint32_t a) {
        const Coefficient old = vector[place(a)];
        vector[place(a)] = turned(old, cosine, -sine);
        vector[place(size + a)] = turned(old, cosine, sine);
    });
}

// Entry r of the projection on an outcome, up to a common factor. The projection does not have the pivot's coordinate.
SNC_HOST_DEVICE Coefficient projected(const Coefficient* vector, const Step& step, uint32_t r, bool outcome) {
    const uint32_t a = insert_zero(r, static_cast<uint32_t>(step.pivot));
    if (step.x == 0) {
        const bool pivot_bit = (is_odd(a & step.z) != (step.i_power == 2)) != outcome;
        return vector[place(a | uint32_t{pivot_bit} << step.pivot)];
    }
    const uint32_t b = a ^ step.x;
    const PauliFactor factor(signed_by(outcome != is_odd(b & step.z), 0, 1), step.i_power);
    const Coefficient own = vector[place(a)], other = vector[place(b)];
    return factor.is_real ? Coefficient{fused(factor.value, other.re, own.re), fused(factor.value, other.im, own.im)}
                          : Coefficient{fused(-factor.value, other.im, own.re), fused(factor.value, other.re, own.im)};
}

// Projects on an outcome and normalizes. `weight` is the squared norm of the vector plus or minus the inner product.
template <typename Team>
SNC_HOST_DEVICE void project(Team& team, Coefficient* vector, const Step& step, bool outcome, double weight) {
    const double scale = 1 / square_root(step.x != 0 ? weight : 0.5 * weight);
    // Entry r comes from entries >= r: the pivot is the highest bit of x, or, without x, of z.
    team.template read_then_write<Coefficient>(
        uint32_t{1} << (step.width - 1),
        [&](uint32_t r) { return projected(vector, step, r, outcome); },
        [&](uint32_t r, const Coefficient& c) { vector[place(r)] = {scale * c.re, scale * c.im}; });
}

// The pairs of partners among the entries, and the first entry of pair k. Without x, entries are their own partners.
SNC_HOST_DEVICE uint32_t num_pairs(const Step& measurement) {
    return uint32_t{1} << (measurement.width - (measurement.x != 0 ? 1 : 0));
}
SNC_HOST_DEVICE uint32_t first_of_pair(const Step& measurement, uint32_t k) {
    return measurement.x != 0 ? insert_zero(k, highest_bit(measurement.x)) : k;
}

// The squared norm of the vector, and its inner product with the measured Pauli.
template <typename Team>
SNC_HOST_DEVICE void sum_weights(Team& team, const Coefficient* vector, const Step& measurement, double& norm,
                                 double& overlap) {
    const bool is_real = has_real_overlap(measurement);
    team.sums(
        num_pairs(measurement), true,
        [&](uint32_t k, double& norm_sum, double& overlap_sum) {
            const uint32_t a = first_of_pair(measurement, k), b = a ^ measurement.x;
            const Coefficient v_a = vector[place(a)], v_b = vector[place(b)];
            add_norm(norm_sum, v_a);
            if (b != a) add_norm(norm_sum, v_b);
            add_overlap(overlap_sum, signed_by(is_odd(b & measurement.z), 0, v_a), v_b, is_real);
        },
        norm, overlap);
}

template <typename Team>
SNC_HOST_DEVICE void weak_project(Team& team, Coefficient* vector, const Step& measurement,
                                  const WeakProjection& projection) {
    const double scale = projection.scale;
    team.for_each(num_pairs(measurement), [&](uint32_t k) {
        const uint32_t a = first_of_pair(measurement, k), b = a ^ measurement.x;
        Coefficient v_a = vector[place(a)], v_b = vector[place(b)];
        v_a = {scale * v_a.re, scale * v_a.im};
        v_b = {scale * v_b.re, scale * v_b.im};
        vector[place(a)] = sum_with(v_a, signed_by(is_odd(b & measurement.z), 0, projection.factor), v_b);
        if (b != a) vector[place(b)] = sum_with(v_b, signed_by(is_odd(a & measurement.z), 0, projection.factor), v_a);
    });
}

}  // namespace snc
