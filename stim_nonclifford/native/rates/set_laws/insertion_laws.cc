#include "rates/set_laws/insertion_laws.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "algebra/bits.h"
#include "base/interruption.h"
#include "simulation/path_simulation.h"

namespace snc {

namespace {

// More outcomes than these that no check determines would give many branches.
constexpr size_t max_free_outcomes = 4;

// More coordinates than these that are left at the end would give many sums.
constexpr int32_t max_end_width = index_lane_bits;

constexpr double tolerance = 1e-9;

// The expectation value of (-1)^|index & mask| in a vector of this width; coordinates that are not stored are in |+>.
double expectation(const double* vector, int32_t width, uint64_t mask) {
    if (mask >> width != 0) return 0;
    double norm = 0, sum = 0;
    for (uint64_t a = 0; a < uint64_t{1} << width; ++a) {
        const double re = vector[a], im = vector[a + (size_t{1} << index_lane_bits)], square = re * re + im * im;
        norm += square;
        sum += is_odd(a & mask) ? -square : square;
    }
    return sum / norm;
}

}  // namespace

std::optional<InsertionLaws> InsertionLaws::of(const Plan& plan, const Kernels& kernels, const std::function<void()>& interrupted) {
    if (plan.operations.empty() || plan.num_outcomes == 0 || plan.num_outcomes > 64 || plan.steps.steps.empty()) return std::nullopt;
    InsertionLaws laws(plan);
    std::vector<uint32_t> of_operations;
    if (!laws.find_insertions(of_operations) || !laws.find_outcome_flips()) return std::nullopt;
    Interruption interruption(interrupted);
    PathSimulation simulation(plan, kernels, [&] { interruption.look(); }, true);
    if (simulation.start_at_zero_signature().outcome != PathSimulation::kept) return std::nullopt;
    laws.outputs_.assign(simulation.outputs(), simulation.outputs() + plan.layout.output_words);
    const PathSimulation::Checkpoint end = simulation.here();
    if (!laws.find_reversals(of_operations, end.state.row.words())) return std::nullopt;
    // Sets with different masks at the end must lead to orthogonal vectors.
    const SimulationStep& last = plan.steps.steps.back();
    const int32_t end_width = last.width_after - 1;
    if (!last.measures() || end_width > max_end_width) return std::nullopt;
    uint64_t masks = 0;
    for (const Insertion& insertion : laws.insertions_) masks |= insertion.mask;
    for (uint64_t mask = masks; mask != 0; mask = (mask - 1) & masks)
        if (std::abs(expectation(end.vector.data(), end_width, mask)) > tolerance) return std::nullopt;
    return laws;
}

// Follows the Pauli of each rotation to the end.
bool InsertionLaws::find_insertions(std::vector<uint32_t>& of_operations) {
    struct Live {
        size_t operation;
        uint64_t z;
        Insertion insertion;
    };
    std::vector<Live> live;
    for (size_t k = 0; k < plan_.operations.size(); ++k) {
        const Operation& operation = plan_.operations[k];
        if ((operation.x == 0) == operation.measures()) return false;
        if (!operation.measures()) {
            live.push_back({k, operation.kind == Kind::activate ? uint64_t{1} << operation.pivot : operation.z, {0, 0}});
            continue;
        }
        // The coordinate of the pivot leaves: the coefficients with pivot bit 0 stay.
        for (Live& each : live) {
            if (is_odd(each.z & operation.x)) each.insertion.outcomes |= uint64_t{1} << operation.outcome;
            each.z = without_bit(each.z, operation.pivot);
        }
    }
    of_operations.resize(plan_.operations.size());
    for (Live& each : live) {
        each.insertion.mask = each.z;
        const auto found = std::ranges::find(insertions_, each.insertion);
        of_operations[each.operation] = static_cast<uint32_t>(found - insertions_.begin());
        if (found == insertions_.end()) insertions_.push_back(each.insertion);
    }
    return insertions_.size() <= WideBits::max_size;
}

// The angles that the bits of the branch row reverse, which have this value on the path of signature 0.
bool InsertionLaws::find_reversals(const std::vector<uint32_t>& of_operations, const Row& row) {
    reversals_.resize(size_t{64} * plan_.sign_words);
    for (size_t k = 0; k < plan_.operations.size(); ++k) {
        const Operation& operation = plan_.operations[k];
        for (int32_t t = operation.first_term; t < operation.end_term; ++t) {
            const RotationTerm& term = plan_.terms[static_cast<size_t>(t)];
            if (term.sign < 0) continue;
            const auto sign = static_cast<size_t>(term.sign);
            // Signs must be known before the rotation: those at the end are read here.
            for (size_t later = k; later < plan_.operations.size(); ++later)
                if (plan_.operations[later].measures() &&
                    plan_.outcome_effects.has(static_cast<size_t>(plan_.operations[later].outcome), static_cast<uint32_t>(sign)))
                    return false;
            const bool is_reversed = has_bit(row, sign) != (term.is_reversed != 0);
            const double angle = (is_reversed != (operation.i_power == 2) ? -2 : 2) * std::atan2(term.sine, term.cosine);
            const double eighths = angle / (std::numbers::pi / 4);
            if (std::abs(eighths - std::round(eighths)) > tolerance) return false;
            reversals_[sign].push_back({of_operations[k], static_cast<uint32_t>(std::lround(eighths)) % 8});
        }
    }
    return true;
}

// Solves the checks for the outcomes.
bool InsertionLaws::find_outcome_flips() {
    checks_.resize(plan_.branch_words);
    for (uint32_t outcome = 0; outcome < plan_.num_outcomes; ++outcome)
        plan_.final_checks.for_each_one(outcome, [&](uint32_t bit) { checks_[bit / 64] |= uint64_t{1} << (bit % 64); });
    for (uint32_t outcome = 0; outcome < plan_.num_outcomes; ++outcome) {
        OutcomeFlip flip{uint64_t{1} << outcome, Row(plan_.branch_words), 0};
        plan_.outcome_effects.flip_exactly(outcome, flip.row.data());
        const auto remove = [](OutcomeFlip& from, const OutcomeFlip& other) {
            if (!has_bit(from.row, other.check)) return;
            from.outcomes ^= other.outcomes;
            add_bits(from.row, other.row);
        };
        for (const OutcomeFlip& other : fixing_) remove(flip, other);
        const Bits of_checks = common_bits(flip.row, checks_);
        if (is_empty(of_checks)) {
            free_.push_back(std::move(flip));
            continue;
        }
        flip.check = lowest_bit(of_checks);
        for (OutcomeFlip& other : fixing_) remove(other, flip);
        fixing_.push_back(std::move(flip));
    }
    return free_.size() <= max_free_outcomes;
}

std::pair<InsertionLaws::Row, uint64_t> InsertionLaws::solved(const uint64_t* signature) const {
    BranchRow difference(plan_, true);
    difference.add_signature(signature);
    Row row = difference.words();
    uint64_t outcomes = 0;
    for (const OutcomeFlip& flip : fixing_)
        if (has_bit(row, flip.check)) {
            outcomes ^= flip.outcomes;
            add_bits(row, flip.row);
        }
    return {std::move(row), outcomes};
}

InsertionLaws::Eighths InsertionLaws::eighths_of(const Row& row) const {
    Eighths eighths{};
    for_each_one(row.data(), plan_.sign_words, [&](uint32_t sign) {
        for (const Reversal& reversal : reversals_[sign])
            eighths[reversal.insertion] = static_cast<uint8_t>((eighths[reversal.insertion] + reversal.eighths) % 8);
    });
    return eighths;
}

std::vector<InsertionLaws::Branch> InsertionLaws::kept_branches(const uint64_t* signature) const {
    const auto [row, outcomes] = solved(signature);
    std::vector<Branch> branches;
    if (have_common(row, checks_)) return branches;
    for (size_t choice = 0; choice < size_t{1} << free_.size(); ++choice) {
        Row chosen = row;
        uint64_t with_free = outcomes;
        for (size_t k = 0; k < free_.size(); ++k)
            if ((choice >> k & 1) != 0) {
                with_free ^= free_[k].outcomes;
                add_bits(chosen, free_[k].row);
            }
        const double probability = probability_of(chosen, with_free);
        if (probability == 0) continue;
        Branch branch{probability, outputs_};
        for (size_t w = 0; w < branch.outputs.size(); ++w) branch.outputs[w] ^= chosen[plan_.sign_words + w];
        branches.push_back(std::move(branch));
    }
    return branches;
}

// The probability of the outcomes that differ in `outcomes` from the certain ones, where signs differ as in `row`.
double InsertionLaws::probability_of(const Row& row, uint64_t outcomes) const {
    const Eighths eighths = eighths_of(row);

    // Insertions with an even number of eighths are certain: made or not. The others can be chosen.
    struct Vector {
        Insertion sum;
        WideBits chosen;
    };
    std::array<const Vector*, 64> pivots{};
    std::vector<Vector> independent, closed;  // closed: choices that flip no outcomes
    independent.reserve(64);
    const auto reduce = [&](Vector& vector) {
        for (uint64_t rest = vector.sum.outcomes; rest != 0;) {
            const auto bit = static_cast<size_t>(std::bit_width(rest) - 1);
            if (pivots[bit] == nullptr) return bit;
            vector.sum.outcomes ^= pivots[bit]->sum.outcomes;
            vector.sum.mask ^= pivots[bit]->sum.mask;
            vector.chosen ^= pivots[bit]->chosen;
            rest = vector.sum.outcomes;
        }
        return size_t{64};
    };
    Vector start{{outcomes, 0}, {}};
    WideBits backward;  // insertions with a factor -i
    uint32_t num_chosen = 0;
    for (size_t k = 0; k < insertions_.size(); ++k) {
        if (eighths[k] % 4 == 2) {
            start.sum.outcomes ^= insertions_[k].outcomes;
            start.sum.mask ^= insertions_[k].mask;
        }
        if (eighths[k] % 2 == 0) continue;
        ++num_chosen;
        Vector vector{insertions_[k], {}};
        vector.chosen.flip(k);
        if (eighths[k] % 4 == 3) backward.flip(k);
        const size_t bit = reduce(vector);
        if (bit == 64) {
            closed.push_back(vector);
        } else {
            independent.push_back(vector);
            pivots[bit] = &independent.back();
        }
    }
    if (reduce(start) != 64) return 0;

    // Sets with the same mask at the end are summed up together.
    std::vector<Vector> masked, summed;
    for (Vector& vector : closed) {
        for (const Vector& other : masked) {
            const uint64_t top = std::bit_floor(other.sum.mask);
            if ((vector.sum.mask & top) == 0) continue;
            vector.sum.mask ^= other.sum.mask;
            vector.chosen ^= other.chosen;
        }
        (vector.sum.mask != 0 ? masked : summed).push_back(vector);
    }
    const auto turns = [&](const WideBits& chosen) { return chosen.count() + 2 * (chosen & backward).count(); };
    QuarterTurnForm pairs(summed.size());
    for (size_t k = 0; k < summed.size(); ++k) {
        pairs.add_turns(k, turns(summed[k].chosen));
        for (size_t l = 0; l < k; ++l)
            if ((summed[k].chosen & summed[l].chosen).count() % 2 == 1) pairs.flip_pair(k, l);
    }
    double probability = 0;
    for (size_t choice = 0; choice < size_t{1} << masked.size(); ++choice) {
        WideBits offset = start.chosen;
        for (size_t k = 0; k < masked.size(); ++k)
            if ((choice >> k & 1) != 0) offset ^= masked[k].chosen;
        QuarterTurnForm form = pairs;
        for (size_t k = 0; k < summed.size(); ++k) form.add_turns(k, 2 * (offset & summed[k].chosen).count());
        if (const auto exponent = form.log2_of_square())
            probability += std::ldexp(1.0, static_cast<int>(*exponent) - static_cast<int>(num_chosen));
    }
    return probability;
}

}  // namespace snc
