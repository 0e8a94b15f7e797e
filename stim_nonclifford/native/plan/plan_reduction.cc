#include "plan/plan_reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "kernels/shared/philox.h"
#include "plan/plan.h"
#include "plan/reduction/diagonal_block.h"
#include "plan/reduction/stabilizer_rows.h"
#include "plan/reduction/virtual_qubits.h"

namespace snc {

namespace {

// Limits for the time and the memory that a reduction takes.
constexpr size_t max_rotations = 1 << 13, max_string_words = size_t{1} << 22;

// The costs in nanoseconds, as measured on one core.
constexpr double per_signature = 250, per_measurement = 12, per_string = 7, per_product = 8;
constexpr double per_rotation = 60, per_index = 2;
constexpr double per_step = 12, per_coefficient = 0.6;
// How many times less than all coefficients those of an elimination must cost to be used: how many there are depends on the signature.
constexpr double least_gain = 2;
// Narrower vectors are simulated eight at a time.
constexpr uint32_t min_width = 6;

double least_cost(size_t measurements) { return per_signature + per_measurement * static_cast<double>(measurements); }

// Signatures that are drawn for the mean work.
constexpr uint64_t num_drawn = 64;

// For each bit of the branch row, the first operation whose sign it is.
std::vector<uint32_t> first_uses(const Plan& plan) {
    std::vector<uint32_t> first(size_t{64} * plan.sign_words, UINT32_MAX);
    for (size_t k = plan.operations.size(); k-- > 0;)
        for (int32_t t = plan.operations[k].first_term; t < plan.operations[k].end_term; ++t)
            if (const int32_t sign = plan.terms[static_cast<size_t>(t)].sign; sign >= 0) first[static_cast<size_t>(sign)] = static_cast<uint32_t>(k);
    return first;
}

// A rotation whose sign an outcome after it decides on, or -1. Such a sign cannot be read at a later measurement.
int32_t rotation_with_late_sign(const Plan& plan) {
    const std::vector<uint32_t> first = first_uses(plan);
    int32_t found = -1;
    for (size_t k = 0; k < plan.operations.size(); ++k) {
        if (!plan.operations[k].measures()) continue;
        plan.outcome_effects.for_each_one(static_cast<size_t>(plan.operations[k].outcome), [&](uint32_t bit) {
            if (bit < first.size() && first[bit] < k) found = static_cast<int32_t>(first[bit]);
        });
    }
    return found;
}

// A Clifford exp(-i eighths π/8 Z^z) turns X^x with z.x = 1 into i^turns X^x Z^z, or, if it is a Pauli, into -X^x.
uint32_t turns_of(uint32_t eighths) { return (4 - eighths / 2) % 4; }
bool has_string(uint32_t eighths) { return eighths != 4; }

// A Clifford that is applied where a sign bit is set.
struct ConditionalClifford {
    Bits z;
    uint32_t eighths;
    uint32_t sign;
};

// A measured Z string without the pivots of earlier ones. Its sign is a sum of outcomes. The pivot is the qubit that was activated last: what
// corrects a teleported gate is about qubits that the state is teleported into, which were there before.
struct MeasuredString {
    Bits z;
    size_t pivot;
    Bits outcomes;  // numbers of measurements
    bool is_negative;
};

class Reducer {
   public:
    // Rotations are about strings modulo those that were measured, if asked for.
    Reducer(const Plan& plan, bool follows_strings) : plan_(plan), follows_strings_(follows_strings) {}

    Reduction find() {
        if (plan_.num_outcomes == 0) return stopped(Reduction::Obstacle::no_operation);
        if (const auto found = first_not_diagonal(plan_.operations)) return stopped(Reduction::Obstacle::not_diagonal, static_cast<int32_t>(*found));
        if (const int32_t late = rotation_with_late_sign(plan_); late >= 0) return stopped(Reduction::Obstacle::late_sign, late);
        if (plan_.terms.size() > max_rotations ||
            std::ranges::count(plan_.operations, Kind::activate, &Operation::kind) > static_cast<ptrdiff_t>(max_elimination_qubits))
            return stopped(Reduction::Obstacle::no_operation);
        program_ = on_virtual_qubits(plan_.operations, plan_.terms);
        EliminationProgram found;
        found.num_qubits = program_.num_qubits;
        found.num_words = words_for(program_.num_qubits);
        found.sign_words = plan_.sign_words;
        if (follows_strings_)
            found.string_words = words_for(static_cast<uint32_t>(std::ranges::count_if(program_.measurements, [](const auto& each) { return is_empty(each.x); })));
        size_t next = 0;
        for (const VirtualMeasurement& measured : program_.measurements) {
            for (; next < measured.end_rotation; ++next) add(program_.rotations[next]);
            rotate_before(measured, found);
            pull_back(measured, found);
            if (follows_strings_ && is_empty(measured.x)) follow(measured, found.measurements.size() - 1);
            if (found.strings.size() + found.axes.size() > max_string_words) return stopped(Reduction::Obstacle::no_operation);
        }
        write_string_signs(found);
        result_.program = std::move(found);
        return std::move(result_);
    }

   private:
    Reduction stopped(Reduction::Obstacle obstacle, int32_t rotation = -1) {
        result_.obstacle = obstacle;
        result_.rotation = rotation;
        result_.measurement = -1;
        return std::move(result_);
    }

    // R(1 - 2 b) = R(1) R(-2)^b, for a rotation by a multiple of π/8.
    void add(const DiagonalRotation& rotation) {
        if (!rotation.eighths) return dense_.push_back(&rotation);
        const uint32_t eighths = *rotation.eighths;
        result_.num_t += eighths % 2;
        if (rotation.sign >= 0 && reverse(rotation.z, eighths, static_cast<uint32_t>(rotation.sign))) ++result_.num_conditional;
        Bits z = rotation.z;
        for (size_t k = 0; k < strings_.size() && eighths % 2 != 0; ++k)
            if (has_bit(z, strings_[k].pivot)) shift(z, eighths, k);
        block_.add(z, eighths, cliffords_);
    }

    // Turns a rotation backwards where a sign bit is set. Returns whether that makes a difference.
    bool reverse(const Bits& z, uint32_t eighths, uint32_t sign) {
        const uint32_t reversal = (16 - 2 * eighths) % 8;
        if (reversal == 0) return false;
        conditional_.push_back({z, reversal, sign});
        return true;
    }

    // Adds a measured string to that of a rotation.
    void shift(Bits& z, uint32_t eighths, size_t string) {
        add_bits(z, strings_[string].z);
        reverse(z, eighths, 64 * plan_.sign_words + static_cast<uint32_t>(string));
    }

    // Takes a measured Z string out of what waits.
    void follow(const VirtualMeasurement& measured, size_t number) {
        MeasuredString found{measured.z, 0, {}, measured.i_power == 2};
        flip_bit(found.outcomes, number);
        for (const MeasuredString& each : strings_) {
            if (!has_bit(found.z, each.pivot)) continue;
            add_bits(found.z, each.z);
            add_bits(found.outcomes, each.outcomes);
            found.is_negative ^= each.is_negative;
        }
        if (is_empty(found.z)) return;
        found.pivot = highest_bit(found.z);
        strings_.push_back(std::move(found));
        for (Bits& z : block_.take_with(strings_.back().pivot)) {
            shift(z, 1, strings_.size() - 1);
            block_.add(z, 1, cliffords_);
        }
    }

    void write_string_signs(EliminationProgram& to) const {
        to.string_signs.resize(to.string_words);
        to.string_flips.resize(to.measurements.size() * to.string_words);
        for (size_t k = 0; k < strings_.size(); ++k) {
            const uint64_t bit = uint64_t{1} << (k % 64);
            if (strings_[k].is_negative) to.string_signs[k / 64] |= bit;
            for_each_bit(strings_[k].outcomes, [&](size_t number) { to.string_flips[number * to.string_words + k / 64] |= bit; });
        }
    }

    // Adds the rotations that a measurement needs and that are no Cliffords.
    void rotate_before(const VirtualMeasurement& measured, EliminationProgram& to) {
        const size_t first = to.rotations.size();
        const auto add = [&](const Bits& z, EliminationProgram::Rotation rotation) {
            to.axes.insert(to.axes.end(), z.begin(), z.end());
            to.rotations.push_back(rotation);
        };
        const auto note = [&](Reduction::Obstacle obstacle, const DiagonalRotation& rotation) {
            if (result_.obstacle != Reduction::Obstacle::none) return;
            result_.obstacle = obstacle;
            result_.rotation = static_cast<int32_t>(rotation.operation);
            result_.measurement = static_cast<int32_t>(measured.operation);
        };
        std::erase_if(dense_, [&](const DiagonalRotation* rotation) {
            if (!is_odd_overlap(rotation->z, measured.x)) return false;
            note(Reduction::Obstacle::angle, *rotation);
            add(rotation->z, {rotation->cosine, rotation->sine, rotation->sign});
            return true;
        });
        const std::vector<Bits> core = block_.split(measured.x, cliffords_);
        for (const Bits& z : core) add(z, {std::cos(std::numbers::pi / 8), std::sin(std::numbers::pi / 8), -1});
        if (!core.empty())
            note(Reduction::Obstacle::core, *std::ranges::find_if(program_.rotations, [&](const DiagonalRotation& each) {
                return each.eighths.value_or(0) % 2 != 0 && is_odd_overlap(each.z, measured.x);
            }));
        if (to.rotations.size() > first)
            to.steps.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(to.rotations.size()), -1, measured.operation});
    }

    void pull_back(const VirtualMeasurement& measured, EliminationProgram& to) const {
        Bits z = measured.z;
        uint32_t i_power = measured.i_power;
        for (const auto& [string, eighths] : cliffords_) {
            if (eighths == 0 || !is_odd_overlap(string, measured.x)) continue;
            i_power += turns_of(eighths);
            if (has_string(eighths)) add_bits(z, string);
        }
        struct Entry {
            Bits z;
            uint32_t turns;
        };
        std::map<uint32_t, Entry> entries;  // by sign bit
        for (const ConditionalClifford& each : conditional_) {
            if (!is_odd_overlap(each.z, measured.x)) continue;
            Entry& entry = entries.try_emplace(each.sign, Entry{Bits(to.num_words), 0}).first->second;
            entry.turns += turns_of(each.eighths);
            if (has_string(each.eighths)) add_bits(entry.z, each.z);
        }
        const int32_t outcome = plan_.operations[measured.operation].outcome;
        const auto number = static_cast<uint32_t>(to.measurements.size());
        to.steps.push_back({number, number + 1, outcome, measured.operation + 1});
        to.measurements.push_back({outcome, i_power % 4});
        for (const Bits* words : {&measured.x, static_cast<const Bits*>(&z)}) to.paulis.insert(to.paulis.end(), words->begin(), words->end());
        const size_t first = to.masks.size();
        to.masks.resize(first + to.all_sign_words());
        to.first_entries.resize(first + to.all_sign_words(), static_cast<uint32_t>(to.num_entries()));
        for (const auto& [sign, entry] : entries) {
            uint64_t& mask = to.masks[first + sign / 64];
            if (mask == 0) to.first_entries[first + sign / 64] = static_cast<uint32_t>(to.num_entries());
            mask |= uint64_t{1} << (sign % 64);
            to.strings.insert(to.strings.end(), entry.z.begin(), entry.z.end());
            to.quarter_turns.push_back(static_cast<uint8_t>(entry.turns % 4));
        }
    }

    const Plan& plan_;
    const bool follows_strings_;
    VirtualProgram program_;
    DiagonalBlock block_;
    std::vector<MeasuredString> strings_;
    DiagonalCliffords cliffords_;
    std::vector<ConditionalClifford> conditional_;
    std::vector<const DiagonalRotation*> dense_;  // by other angles, which no measurement has needed so far
    Reduction result_;
};

// The reduction that leaves fewer rotations: measured strings are followed where that helps.
Reduction best_reduction(const Plan& plan) {
    Reduction found = Reducer(plan, false).find();
    if (!found.program || !found.program->needs_coefficients()) return found;
    Reduction other = Reducer(plan, true).find();
    const bool is_better = other.program && other.program->rotations.size() < found.program->rotations.size();
    return is_better ? std::move(other) : std::move(found);
}

// The work for a signature.
struct SignatureWork {
    EliminationWork elimination;
    double coefficients = 0;
    uint32_t dense_width = 0;
};

// The work with these sign bits before all outcomes, where all outcomes that are not certain show what `coins` says; none if it takes more
// axes than there can be.
std::optional<SignatureWork> work_of(const Plan& plan, const EliminationProgram& program, std::vector<uint64_t> row, uint64_t coins) {
    SignatureWork work;
    auto& [strings, products, num_coins] = work.elimination;
    StabilizerRows rows(program.num_qubits);
    std::vector<uint64_t> pauli(program.pauli_words()), string_signs = program.string_signs;
    uint64_t axes = 0, drawn = 0;
    for (const EliminationProgram::Step& step : program.steps) {
        if (!step.measures()) {
            for (uint32_t k = step.first; k < step.end; ++k) {
                uint32_t i_power = program.write_axis(k, pauli.data());
                const int32_t bit = rows.reduce(pauli.data(), i_power, axes, products);
                if (bit >= 0 && rows.num_axes() == StabilizerRows::max_axes) return std::nullopt;
                if (bit >= 0) rows.add_axis(pauli.data(), bit);
                work.coefficients += std::exp2(rows.num_axes());
            }
            work.dense_width = std::max(work.dense_width, rows.num_axes());
            continue;
        }
        uint32_t i_power = program.write_pauli(step.first, row.data(), string_signs.data(), pauli.data(), strings);
        const int32_t bit = rows.reduce(pauli.data(), i_power, axes, products);
        const Operation on_index = rows.on_index(pauli.data(), i_power, axes);
        const bool is_certain = bit < 0 && (on_index.x | on_index.z) == 0;
        const bool outcome = is_certain ? on_index.i_power == 2 : (coins >> drawn++ % 64 & 1) != 0;
        if (bit >= 0) {
            ++num_coins;
            rows.add(pauli.data(), i_power + (outcome ? 2 : 0), axes, bit);
        } else if (!is_certain) {
            work.coefficients += std::exp2(rows.num_axes());
            rows.project(pauli.data(), i_power, on_index, outcome, products);
        }
        if (!outcome) continue;
        plan.outcome_effects.flip_exactly(static_cast<size_t>(step.outcome), row.data());
        program.flip_string_signs(step.first, string_signs.data());
    }
    return work;
}

// Returns false if an elimination has no room for the work.
bool count_work(const Plan& plan, Reduction& reduction) {
    const EliminationProgram& program = *reduction.program;
    const uint32_t words = plan.layout.signature_words;
    SignatureWork sum;
    for (uint64_t k = 0; k <= num_drawn; ++k) {
        std::vector<uint64_t> row = plan.branch_constant;
        for (uint32_t bit = 0; k != 0 && bit < plan.layout.num_signature_bits; ++bit)
            if ((random_word(0, Stream::events, k, bit / 64) >> bit % 64 & 1) != 0) plan.signature_images.flip_exactly(bit, row.data());
        const std::optional<SignatureWork> work = work_of(plan, program, std::move(row), random_word(0, Stream::outcomes, k, words));
        if (!work) return false;
        sum.elimination += work->elimination;
        sum.coefficients += work->coefficients;
        reduction.coins = std::max(reduction.coins, static_cast<uint32_t>(work->elimination.coins));
        reduction.dense_width = std::max(reduction.dense_width, work->dense_width);
    }
    reduction.strings = static_cast<double>(sum.elimination.strings) / (num_drawn + 1);
    reduction.products = static_cast<double>(sum.elimination.products) / (num_drawn + 1);
    reduction.coefficients = sum.coefficients / (num_drawn + 1);
    return true;
}

// The costs of passes through a vector: all operations but diagonal rotations are one.
double dense_cost_of(const Plan& plan) {
    double cost = 0;
    for (size_t k = 0; k < plan.operations.size(); ++k) {
        const Operation& operation = plan.operations[k];
        if (operation.kind == Kind::rotate && plan.operations.is_diagonal(k)) continue;
        cost += per_step + per_coefficient * std::exp2(operation.width + (operation.kind == Kind::activate));
    }
    return cost;
}

}  // namespace

Reduction reduce(const Plan& plan) {
    Reduction reduction = best_reduction(plan);
    reduction.dense_cost = dense_cost_of(plan);
    if (!reduction.program) return reduction;
    if (!count_work(plan, reduction)) {
        reduction.program.reset();
        return reduction;
    }
    const EliminationProgram& program = *reduction.program;
    const double words = 0.75 + 0.25 * program.num_words;
    reduction.elimination_cost = least_cost(program.measurements.size()) + words * (per_string * reduction.strings + per_product * reduction.products);
    reduction.elimination_cost += per_rotation * static_cast<double>(program.rotations.size()) + per_index * reduction.coefficients;
    const double gain = program.needs_coefficients() ? least_gain : 1;
    reduction.pays = may_pay(plan) && gain * reduction.elimination_cost < reduction.dense_cost;
    return reduction;
}

std::shared_ptr<const EliminationProgram> elimination_program(const Plan& plan) {
    if (plan.elimination) return plan.elimination;
    std::optional<EliminationProgram> found = best_reduction(plan).program;
    return found ? std::make_shared<const EliminationProgram>(std::move(*found)) : nullptr;
}

bool may_pay(const Plan& plan) { return plan.peak_width >= min_width && least_cost(plan.num_outcomes) < dense_cost_of(plan); }

}  // namespace snc
