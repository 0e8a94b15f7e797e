// What each step does to the coefficient vector, as phases of a team; see `stim_nonclifford/coefficients.py`.
#pragma once

#include "plan_image.h"

namespace snc {

struct alignas(16) Coefficient {
    double re, im;
};

// Half a rotation angle. The cosine is 1, and the sine the tangent, where the norm does not matter.
struct Angle {
    double cosine, sine;
};

// Where coefficient `index` lies. Threads that read every second, fourth or eighth coefficient do not meet in
// the same bank of shared memory.
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

SNC_HOST_DEVICE double signed_by(bool negative, double value) { return negative ? -value : value; }

// The sum of the angles of a rotation. is_set(bit) tells the signs.
template <typename IsSet>
SNC_HOST_DEVICE Angle sum_of_angles(const Rotation& rotation, const AngleTerm* terms, IsSet is_set) {
    const AngleTerm& first = terms[rotation.first_term];
    Angle sum{first.cosine, signed_by(is_set(first.sign), first.sine)};
    for (uint32_t t = rotation.first_term + 1; t < rotation.end_term; ++t) {
        const AngleTerm& next = terms[t];
        const double sine = signed_by(is_set(next.sign) != (next.reversed != 0), next.sine);
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
// one that `flips` leads to; the factor has an extra sign where bits of `signs` and of the place of that
// coefficient agree an odd number of times.
template <uint32_t span, uint32_t flips, bool is_real, bool is_unit>
SNC_HOST_DEVICE void rotate_coset(Coefficient (&coset)[1u << span], double cosine, double factor, uint32_t signs) {
    const auto sum = [&](const Coefficient& own, uint32_t from, const Coefficient& other) {
        const double f = signed_by(is_odd(signs & from), factor);
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
SNC_HOST_DEVICE void rotate_coset(Coefficient (&coset)[1u << span], const Angle& angle, PauliFactor factor, uint32_t signs) {
    if constexpr (flips < 1u << span) {
        const bool unit = angle.cosine == 1;
        if (factor.is_real && unit) rotate_coset<span, flips, true, true>(coset, 1, factor.value, signs);
        else if (factor.is_real) rotate_coset<span, flips, true, false>(coset, angle.cosine, factor.value, signs);
        else if (unit) rotate_coset<span, flips, false, true>(coset, 1, factor.value, signs);
        else rotate_coset<span, flips, false, false>(coset, angle.cosine, factor.value, signs);
    }
}

SNC_HOST_DEVICE void add_norm(double& sum, const Coefficient& c) { sum = fused(c.re, c.re, fused(c.im, c.im, sum)); }

// A coordinate woken by cos - i sin X and measured at once, together with the parity of others, is a weak
// measurement of that parity: a factor for each coefficient. The next pass through the vector makes it.
struct WeakProjection {
    bool is_pending = false;
    bool flipped = false;
    uint32_t z = 0;
    double cosine = 0, sine = 0;

    SNC_HOST_DEVICE Coefficient of(uint32_t index, const Coefficient& old) const {
        return is_odd(index & z) != flipped ? Coefficient{sine * old.im, -sine * old.re}
                                            : Coefficient{cosine * old.re, cosine * old.im};
    }
};

// Squared norms of the coefficients whose index is even or odd with z.
struct ParityNorms {
    bool are_wanted = false;
    uint32_t z = 0;
    double even = 0, odd = 0;
};

// The rotations of a step, in one pass: a thread takes a coset through its registers. On the way in, a weak
// projection is made, and on the way out, norms are summed.
template <uint32_t span, typename Team>
SNC_HOST_DEVICE void rotate(Team& team, Coefficient* vector, const Step& step, const Rotation* rotations,
                            const Angle* angles, const WeakProjection& before, ParityNorms& norms) {
    static_assert(max_span == 3, "the cases below");
    constexpr uint32_t size = 1u << span;
    uint32_t offsets[size] = {0};
    uint32_t pivots[max_span] = {0};
    for (uint32_t j = 0; j < span; ++j) {
        pivots[j] = highest_bit(step.generators[j]);
        for (uint32_t e = 0; e < 1u << j; ++e) offsets[(1u << j) + e] = offsets[e] ^ step.generators[j];
    }
    const uint32_t count = step.end_rotation - step.first_rotation;
    const auto pass = [&](uint32_t r, double& even, double& odd) {
        uint32_t first = r;
        for (uint32_t j = 0; j < span; ++j) first = insert_zero(first, pivots[j]);
        Coefficient coset[size];
        for (uint32_t e = 0; e < size; ++e) {
            coset[e] = vector[place(first ^ offsets[e])];
            if (before.is_pending) coset[e] = before.of(first ^ offsets[e], coset[e]);
        }
        for (uint32_t k = 0; k < count; ++k) {
            const Rotation& rotation = rotations[k];
            const Angle angle = angles[k];
            const PauliFactor factor(signed_by(is_odd(first & rotation.z), angle.sine), rotation.i_power + 3);
            switch (rotation.flips) {
                case 0: rotate_coset<span, 0>(coset, angle, factor, rotation.signs); break;
                case 1: rotate_coset<span, 1>(coset, angle, factor, rotation.signs); break;
                case 2: rotate_coset<span, 2>(coset, angle, factor, rotation.signs); break;
                case 3: rotate_coset<span, 3>(coset, angle, factor, rotation.signs); break;
                case 4: rotate_coset<span, 4>(coset, angle, factor, rotation.signs); break;
                case 5: rotate_coset<span, 5>(coset, angle, factor, rotation.signs); break;
                case 6: rotate_coset<span, 6>(coset, angle, factor, rotation.signs); break;
                default: rotate_coset<span, 7>(coset, angle, factor, rotation.signs); break;
            }
        }
        for (uint32_t e = 0; e < size; ++e) {
            vector[place(first ^ offsets[e])] = coset[e];
            if (norms.are_wanted) add_norm(is_odd((first ^ offsets[e]) & norms.z) ? odd : even, coset[e]);
        }
    };
    team.sums(uint32_t{1} << (step.width - span), norms.are_wanted, pass, norms.even, norms.odd);
}

template <typename Team>
SNC_HOST_DEVICE void rotate(Team& team, Coefficient* vector, const Step& step, const Rotation* rotations,
                            const Angle* angles, const WeakProjection& before, ParityNorms& norms) {
    switch (step.span) {
        case 0: return rotate<0>(team, vector, step, rotations, angles, before, norms);
        case 1: return rotate<1>(team, vector, step, rotations, angles, before, norms);
        case 2: return rotate<2>(team, vector, step, rotations, angles, before, norms);
        default: return rotate<3>(team, vector, step, rotations, angles, before, norms);
    }
}

// Wakes a coordinate, which becomes the highest bit of the index: [cos v, -i sin v].
template <typename Team>
SNC_HOST_DEVICE void activate(Team& team, Coefficient* vector, uint32_t width, const Angle& angle) {
    const uint32_t size = uint32_t{1} << width;
    team.for_each(size, [&](uint32_t a) {
        const Coefficient old = vector[place(a)];
        vector[place(size + a)] = {angle.sine * old.im, -angle.sine * old.re};
        vector[place(a)] = {angle.cosine * old.re, angle.cosine * old.im};
    });
}

// Entry r of the projection on an outcome, up to a factor that is the same for all. The pivot's coordinate is
// not in it.
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

// Squared norms of the projections on outcome 0 and 1, up to a common factor.
struct Weights {
    double zero, one;
};

template <typename Team>
SNC_HOST_DEVICE Weights outcome_weights(Team& team, const Coefficient* vector, const Step& step) {
    Weights weights;
    team.sums(
        uint32_t{1} << (step.width - 1), true,
        [&](uint32_t r, double& zero, double& one) {
            add_norm(zero, projected(vector, step, r, false));
            add_norm(one, projected(vector, step, r, true));
        },
        weights.zero, weights.one);
    return weights;
}

// Projects on an outcome of that weight and normalizes.
template <typename Team>
SNC_HOST_DEVICE void project(Team& team, Coefficient* vector, const Step& step, bool outcome, double weight) {
    const double scale = 1 / square_root(weight);
    // Entry r comes from entries >= r: the pivot is the highest bit of x, or, without x, of z.
    team.template read_then_write<Coefficient>(
        uint32_t{1} << (step.width - 1),
        [&](uint32_t r) { return projected(vector, step, r, outcome); },
        [&](uint32_t r, const Coefficient& c) { vector[place(r)] = {scale * c.re, scale * c.im}; });
}

// The parity of which a weak measurement is one.
SNC_HOST_DEVICE uint32_t weakly_measured(const Step& step) { return step.z & ~(uint32_t{1} << step.pivot); }

template <typename Team>
SNC_HOST_DEVICE void sum_norms(Team& team, const Coefficient* vector, uint32_t width, ParityNorms& norms) {
    team.sums(
        uint32_t{1} << width, true,
        [&](uint32_t a, double& even, double& odd) {
            add_norm(is_odd(a & norms.z) ? odd : even, vector[place(a)]);
        },
        norms.even, norms.odd);
}

SNC_HOST_DEVICE Weights weak_weights(const Step& step, const Angle& angle, const ParityNorms& norms) {
    const double c = angle.cosine * angle.cosine, s = angle.sine * angle.sine;
    const Weights weights{c * norms.even + s * norms.odd, s * norms.even + c * norms.odd};
    return step.i_power == 2 ? Weights{weights.one, weights.zero} : weights;
}

SNC_HOST_DEVICE WeakProjection weak_projection(const Step& step, const Angle& angle, bool outcome, double weight) {
    const double scale = 1 / square_root(weight);
    return {true, outcome != (step.i_power == 2), weakly_measured(step), scale * angle.cosine, scale * angle.sine};
}

template <typename Team>
SNC_HOST_DEVICE void weak_project(Team& team, Coefficient* vector, uint32_t width, const WeakProjection& projection) {
    team.for_each(uint32_t{1} << width, [&](uint32_t a) { vector[place(a)] = projection.of(a, vector[place(a)]); });
}

}  // namespace snc
