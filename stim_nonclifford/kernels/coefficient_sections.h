// Applies each step to the coefficient vector, as sections of a team; see `stim_nonclifford/coefficients.py`.
#pragma once

#include "plan_image.h"

namespace snc {

struct alignas(16) Coefficient {
    double re, im;
};

// Half a rotation angle. If the norm does not matter, the cosine is 1 and the sine is the tangent.
struct Angle {
    double cosine, sine;
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

SNC_HOST_DEVICE double signed_by(bool negative, double value) {
#if defined(__CUDA_ARCH__)
    // Integer operations: those on doubles are scarce.
    return __longlong_as_double(__double_as_longlong(value) ^ static_cast<long long>(negative) << 63);
#else
    return negative ? -value : value;
#endif
}

// The sum of the angles of a rotation. is_set(bit) tells the signs.
template <typename IsSet>
SNC_HOST_DEVICE Angle sum_of_angles(const Rotation& rotation, const RotationTerm* terms, IsSet is_set) {
    const RotationTerm& first = terms[rotation.first_term];
    Angle sum{first.cosine, signed_by(is_set(first.sign), first.sine)};
    for (uint32_t t = rotation.first_term + 1; t < rotation.end_term; ++t) {
        const RotationTerm& next = terms[t];
        const double sine = signed_by(is_set(next.sign) != (next.is_reversed != 0), next.sine);
        const double cosine = sum.cosine * next.cosine - sum.sine * sine;
        sum.sine = sum.sine * next.cosine + sum.cosine * sine;
        sum.cosine = cosine;
    }
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
        const double f = signed_by((odd >> from & 1) != 0, factor);
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

SNC_HOST_DEVICE void add_norm(double& sum, const Coefficient& c) { sum = fused(c.re, c.re, fused(c.im, c.im, sum)); }

// (cosine + i sine) c
SNC_HOST_DEVICE Coefficient turned(const Coefficient& c, double cosine, double sine) {
    return {fused(cosine, c.re, -(sine * c.im)), fused(cosine, c.im, sine * c.re)};
}

// Squared norms of the projections on outcome 0 and 1, up to a common factor.
struct Weights {
    double zero, one;
};

// If a coordinate is activated with a phase and measured at once, with an X on it, together with other coordinates, the
// others are measured weakly, and the vector keeps its size. Twice the projection on outcome 0 or 1 is the vector rotated by
// the angle, plus or minus the other Pauli applied to the vector rotated by minus the angle.
struct alignas(16) WeakProjection {
    Angle angle{};
    // The square of cosine + i sine, times that of the Pauli's powers of i which does not depend on the entry.
    Coefficient turn{};
    uint32_t x = 0, z = 0, pivot = 0;  // of the measurement; the pivot as a mask, without which x is
    int32_t i_power = 0;

    SNC_HOST_DEVICE WeakProjection() {}
    SNC_HOST_DEVICE WeakProjection(const Step& step, const Angle& activated)
        : angle(activated), x(step.x ^ uint32_t{1} << step.pivot), z(step.z), pivot(uint32_t{1} << step.pivot),
          i_power(step.i_power) {
        const double re = angle.cosine * angle.cosine - angle.sine * angle.sine, im = 2 * angle.cosine * angle.sine;
        const double sign = (i_power & 2) != 0 ? -1 : 1;
        turn = (i_power & 1) == 0 ? Coefficient{sign * re, sign * im} : Coefficient{-sign * im, sign * re};
    }

    // The squared norms of both projections are twice those of the two vectors that are added, plus or minus their inner
    // product. Adds the part of an entry to the squared norm of the vector, and to the inner product.
    SNC_HOST_DEVICE void add_overlap(const Coefficient& v, uint32_t partner, const Coefficient& v_partner, double& norm,
                                     double& overlap) const {
        const bool negative = is_odd((partner | pivot) & z);
        const double re = fused(v.re, v_partner.re, v.im * v_partner.im);
        const double im = fused(v.re, v_partner.im, -(v.im * v_partner.re));
        norm = fused(v.re, v.re, fused(v.im, v.im, norm));
        overlap = fused(signed_by(negative, turn.re), re, fused(signed_by(!negative, turn.im), im, overlap));
    }
    SNC_HOST_DEVICE Weights weights(double norm, double overlap) const {
        const double both = (angle.cosine * angle.cosine + angle.sine * angle.sine) * norm;
        return {2 * (both + overlap), 2 * (both - overlap)};
    }

    // An entry of it, from the entries at the same index and at its partner, index ^ x.
    SNC_HOST_DEVICE Coefficient of(bool outcome, const Coefficient& v, uint32_t partner, const Coefficient& v_partner) const {
        const Coefficient own = turned(v, angle.cosine, -angle.sine);
        const Coefficient other = turned(v_partner, angle.cosine, angle.sine);
        const PauliFactor factor(signed_by(outcome != is_odd((partner | pivot) & z), 1), i_power);
        return factor.is_real ? Coefficient{fused(factor.value, other.re, own.re), fused(factor.value, other.im, own.im)}
                              : Coefficient{fused(-factor.value, other.im, own.re), fused(factor.value, other.re, own.im)};
    }
};

// The work of a pass through the vector besides its rotations: before them, a weak projection, if there is one; after them,
// the sums from which the weights of the next one follow, if they are wanted.
struct WeakWork {
    bool projects, sums;
    bool outcome;
    const WeakProjection& projection;
    const WeakProjection& next;
};

// Replaces entries by the entries of the projection.
template <uint32_t span, uint32_t flips>
SNC_HOST_DEVICE void project_coset(Coefficient (&coset)[1u << span], const uint32_t (&offsets)[1u << span], uint32_t first,
                                   bool outcome, const WeakProjection& projection) {
    if constexpr (flips < (1u << span)) {  // NVRTC 12.2 needs both pairs of brackets
        for (uint32_t e = 0; e < 1u << span; ++e) {
            const uint32_t partner = e ^ flips;
            if (partner < e) continue;
            const Coefficient a = coset[e], b = coset[partner];
            coset[e] = projection.of(outcome, a, first ^ offsets[partner], b);
            if (flips != 0) coset[partner] = projection.of(outcome, b, first ^ offsets[e], a);
        }
    }
}

template <uint32_t span, uint32_t flips>
SNC_HOST_DEVICE void add_overlaps(const Coefficient (&coset)[1u << span], const uint32_t (&offsets)[1u << span], uint32_t first,
                                  const WeakProjection& projection, double& norm, double& overlap) {
    if constexpr (flips < (1u << span)) {
        for (uint32_t e = 0; e < 1u << span; ++e)
            projection.add_overlap(coset[e], first ^ offsets[e ^ flips], coset[e ^ flips], norm, overlap);
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

// The rotations of a step, in one pass: a thread takes a coset through its registers. Returns the sums that are wanted.
template <uint32_t span, typename Team>
SNC_HOST_DEVICE void rotate(Team& team, Coefficient* vector, const Step& step, const Rotation* rotations,
                            const Angle* angles, const WeakWork& work, double& norm, double& overlap) {
    constexpr uint32_t size = 1u << span;
    uint32_t offsets[size] = {0};
    uint32_t pivots[max_span] = {0};
    for (uint32_t j = 0; j < span; ++j) {
        pivots[j] = highest_bit(step.generators[j]);
        for (uint32_t e = 0; e < 1u << j; ++e) offsets[(1u << j) + e] = offsets[e] ^ step.generators[j];
    }
    const uint32_t count = step.end_rotation - step.first_rotation;
    const auto pass = [&](uint32_t r, double& norm_sum, double& overlap_sum) {
        uint32_t first = r;
        for (uint32_t j = 0; j < span; ++j) first = insert_zero(first, pivots[j]);
        Coefficient coset[size];
        for (uint32_t e = 0; e < size; ++e) coset[e] = vector[place(first ^ offsets[e])];
        if (work.projects)
            with_flips(step.projected_flips, [&](auto flips) {
                project_coset<span, decltype(flips)::value>(coset, offsets, first, work.outcome, work.projection);
            });
        for (uint32_t k = 0; k < count; ++k) {
            const Rotation& rotation = rotations[k];
            const Angle angle = angles[k];
            const PauliFactor factor(signed_by(is_odd(first & rotation.z), angle.sine), rotation.i_power + 3);
            with_flips(rotation.flips, [&](auto flips) {
                rotate_coset<span, decltype(flips)::value>(coset, angle, factor, rotation.odd);
            });
        }
        for (uint32_t e = 0; e < size; ++e) vector[place(first ^ offsets[e])] = coset[e];
        if (work.sums)
            with_flips(step.summed_flips, [&](auto flips) {
                add_overlaps<span, decltype(flips)::value>(coset, offsets, first, work.next, norm_sum, overlap_sum);
            });
    };
    team.sums(uint32_t{1} << (step.width - span), work.sums, pass, norm, overlap);
}

template <typename Team>
SNC_HOST_DEVICE void rotate(Team& team, Coefficient* vector, const Step& step, const Rotation* rotations,
                            const Angle* angles, const WeakWork& work, double& norm, double& overlap) {
    switch (step.span) {
        case 0: return rotate<0>(team, vector, step, rotations, angles, work, norm, overlap);
        case 1: return rotate<1>(team, vector, step, rotations, angles, work, norm, overlap);
        case 2: return rotate<2>(team, vector, step, rotations, angles, work, norm, overlap);
        default: return rotate<3>(team, vector, step, rotations, angles, work, norm, overlap);
    }
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
    const PauliFactor factor(signed_by(outcome != is_odd(b & step.z), 1), step.i_power);
    const Coefficient own = vector[place(a)], other = vector[place(b)];
    return factor.is_real ? Coefficient{fused(factor.value, other.re, own.re), fused(factor.value, other.im, own.im)}
                          : Coefficient{fused(-factor.value, other.im, own.re), fused(factor.value, other.re, own.im)};
}

template <typename Team>
SNC_HOST_DEVICE Weights outcome_weights(Team& team, const Coefficient* vector, const Step& step) {
    double first, second;
    if (step.x == 0) {
        team.sums(
            uint32_t{1} << (step.width - 1), true,
            [&](uint32_t r, double& zero, double& one) {
                add_norm(zero, projected(vector, step, r, false));
                add_norm(one, projected(vector, step, r, true));
            },
            first, second);
        return {first, second};
    }
    // The squared norm of the vector, and the inner product of its halves, of which the one is multiplied by the Pauli.
    team.sums(
        uint32_t{1} << (step.width - 1), true,
        [&](uint32_t r, double& norm, double& overlap) {
            const uint32_t a = insert_zero(r, static_cast<uint32_t>(step.pivot)), b = a ^ step.x;
            const PauliFactor factor(signed_by(is_odd(b & step.z), 1), step.i_power);
            const Coefficient own = vector[place(a)], other = vector[place(b)];
            add_norm(norm, own);
            add_norm(norm, other);
            overlap = factor.is_real
                          ? fused(factor.value * own.re, other.re, fused(factor.value * own.im, other.im, overlap))
                          : fused(factor.value * own.im, other.re, fused(-factor.value * own.re, other.im, overlap));
        },
        first, second);
    return {first + 2 * second, first - 2 * second};
}

// Projects on an outcome of the given weight and normalizes.
template <typename Team>
SNC_HOST_DEVICE void project(Team& team, Coefficient* vector, const Step& step, bool outcome, double weight) {
    const double scale = 1 / square_root(weight);
    // Entry r comes from entries >= r: the pivot is the highest bit of x, or, without x, of z.
    team.template read_then_write<Coefficient>(
        uint32_t{1} << (step.width - 1),
        [&](uint32_t r) { return projected(vector, step, r, outcome); },
        [&](uint32_t r, const Coefficient& c) { vector[place(r)] = {scale * c.re, scale * c.im}; });
}

// Pairs of partners in a weak projection, and the first entry of pair k; entries may be their own partners.
SNC_HOST_DEVICE uint32_t num_weak_pairs(uint32_t width, const WeakProjection& projection) {
    return uint32_t{1} << (width - (projection.x != 0 ? 1 : 0));
}
SNC_HOST_DEVICE uint32_t first_of_weak_pair(uint32_t k, const WeakProjection& projection) {
    return projection.x != 0 ? insert_zero(k, highest_bit(projection.x)) : k;
}

template <typename Team>
SNC_HOST_DEVICE void weak_overlap(Team& team, const Coefficient* vector, uint32_t width, const WeakProjection& projection,
                                  double& norm, double& overlap) {
    team.sums(
        uint32_t{1} << width, true,
        [&](uint32_t a, double& norm_sum, double& overlap_sum) {
            const uint32_t b = a ^ projection.x;
            projection.add_overlap(vector[place(a)], b, vector[place(b)], norm_sum, overlap_sum);
        },
        norm, overlap);
}

template <typename Team>
SNC_HOST_DEVICE void weak_project(Team& team, Coefficient* vector, uint32_t width, const WeakProjection& projection,
                                  bool outcome) {
    team.for_each(num_weak_pairs(width, projection), [&](uint32_t k) {
        const uint32_t a = first_of_weak_pair(k, projection), b = a ^ projection.x;
        const Coefficient v_a = vector[place(a)], v_b = vector[place(b)];
        vector[place(a)] = projection.of(outcome, v_a, b, v_b);
        if (b != a) vector[place(b)] = projection.of(outcome, v_b, a, v_a);
    });
}

}  // namespace snc
