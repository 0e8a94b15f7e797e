#include "plan/certain_checks.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "algebra/bits.h"
#include "plan/plan_reduction.h"
#include "plan/reduction/diagonal_block.h"

namespace snc {

namespace {

// Pairs of flips are looked at: some seconds for so many. With twice as many, it takes the fourfold time.
constexpr uint32_t max_flips = 2048;

// Sums of bits of the branch row that have no obstacle left: Gaussian elimination.
class SumsWithoutObstacle {
   public:
    // The sum of a bit and of earlier ones without an obstacle, if there is one.
    std::optional<Bits> add(size_t bit, Bits obstacle) {
        Bits sum;
        flip_bit(sum, bit);
        while (!is_empty(obstacle)) {
            const auto [row, is_new] = rows_.try_emplace(lowest_bit(obstacle), obstacle, sum);
            if (is_new) return std::nullopt;
            add_bits(obstacle, row->second.first);
            add_bits(sum, row->second.second);
        }
        return sum;
    }

   private:
    std::map<size_t, std::pair<Bits, Bits>> rows_;  // by the lowest bit of the obstacle
};

class CertainSums {
   public:
    CertainSums(const Plan& plan, const EliminationProgram& program) : plan_(plan), program_(program), checks_of_(program.measurements.size()) {
        for (uint32_t outcome = 0; outcome < plan.num_outcomes; ++outcome)
            plan.final_checks.for_each_one(outcome, [&](uint32_t bit) { obstacles_.try_emplace(bit); });
        for (uint32_t output = 0; output < plan.layout.num_outputs; ++output) obstacles_.try_emplace(first_output() + output);
        find_flips();
        for (size_t k = 0; k < program.measurements.size(); ++k) {
            const Bits obstacle = obstacle_of(k);
            plan.outcome_effects.for_each_one(outcome_of(k), [&](uint32_t bit) {
                const auto check = obstacles_.find(bit);
                if (check == obstacles_.end()) return;
                add_bits(check->second, obstacle);
                flip_bit(checks_of_[k], bit);
            });
        }
    }

    CertainChecks find() const {
        SumsWithoutObstacle without;
        CertainChecks found;
        size_t num_outputs = 0;
        for (const auto& [bit, obstacle] : obstacles_) {  // checks, and then outputs
            const std::optional<Bits> sum = without.add(bit, obstacle);
            if (!sum) continue;
            const bool is_output = bit >= first_output();
            if (add(*sum, is_output ? found.outputs : found.checks)) num_outputs += is_output;
        }
        if (num_outputs < plan_.layout.num_outputs) found.outputs = {};
        return found;
    }

   private:
    uint32_t first_output() const { return 64 * plan_.sign_words; }
    size_t outcome_of(size_t measurement) const { return static_cast<size_t>(program_.measurements[measurement].outcome); }

    // Finds what signature bits and outcomes flip of the sign bits.
    void find_flips() {
        const uint32_t words = program_.all_sign_words();
        signs_.resize(words);
        for (size_t k = 0; k < program_.masks.size(); ++k) signs_[k % words] |= program_.masks[k];
        std::set<Bits> flips;
        const auto note = [&](const Bits& flipped) {
            if (Bits signs = common_bits(flipped, signs_); !is_empty(signs)) flips.insert(std::move(signs));
        };
        for (size_t bit = 0; bit < plan_.layout.num_signature_bits; ++bit) note(signs_of(row_of(plan_.signature_images, bit)));
        for (size_t k = 0; k < program_.measurements.size(); ++k) note(flipped_by(k));
        flips_.assign(flips.begin(), flips.end());
        Rank known(size_t{64} * words);
        for (size_t a = 0; a < flips_.size(); ++a)
            for (size_t b = 0; b < a; ++b)
                if (Bits both = common_bits(flips_[a], flips_[b]); known.add(both)) common_flips_.push_back(std::move(both));
    }

    // What must cancel in a product of measured Paulis: the Z string, what each flip of sign bits adds to it, that two flips together change
    // the sign otherwise than one after the other, and rotations that are no Cliffords and anticommute with it.
    Bits obstacle_of(size_t k) const {
        const size_t words = program_.num_words;
        Bits found(words * (1 + flips_.size())), pauli(program_.pauli_words());
        uint64_t strings = 0;
        program_.write_pauli(k, plan_.branch_constant.data(), program_.string_signs.data(), pauli.data(), strings);
        std::copy_n(pauli.begin() + words, words, found.begin());
        const uint32_t sign_words = program_.all_sign_words();
        const uint64_t* const masks = program_.masks.data() + k * sign_words;
        Bits quarter_turned(sign_words);
        size_t entry = program_.first_entries[k * sign_words];
        for_each_bit(Bits(masks, masks + sign_words), [&](size_t bit) {
            for (size_t f = 0; f < flips_.size(); ++f)
                for (size_t w = 0; has_bit(flips_[f], bit) && w < words; ++w)
                    found[words * (1 + f) + w] ^= program_.strings[entry * words + w];
            if (program_.quarter_turns[entry++] % 2 != 0) flip_bit(quarter_turned, bit);
        });
        const Bits x(pauli.begin(), pauli.begin() + words);
        size_t next = 64 * found.size();
        const auto note = [&](bool is_odd) {
            if (is_odd) flip_bit(found, next);
            ++next;
        };
        for (const Bits& common : common_flips_) note(is_odd_overlap(common, quarter_turned));
        for (size_t r = 0; r < program_.rotations.size(); ++r)
            note(is_odd_overlap(x, Bits(&program_.axes[r * words], &program_.axes[r * words] + words)));
        return found;
    }

    // The sum of the outcomes that flip an odd number of some checks, with these signs.
    bool value_of(const Bits& sum, const Bits& signs) const {
        const uint32_t words = program_.num_words;
        Bits product(2 * size_t{words}), pauli(program_.pauli_words());
        uint32_t i_power = 0;
        uint64_t strings = 0;
        for (size_t k = 0; k < checks_of_.size(); ++k) {
            if (!is_odd_overlap(checks_of_[k], sum)) continue;
            i_power += program_.write_pauli(k, signs.data(), signs.data() + program_.sign_words, pauli.data(), strings);
            if (is_odd_overlap(Bits(product.begin() + words, product.end()), Bits(pauli.begin(), pauli.begin() + words))) i_power += 2;
            for (size_t w = 0; w < product.size(); ++w) product[w] ^= pauli[w];
        }
        return (i_power & 2) != 0;
    }

    // Adds a sum, and returns whether it is linear in outcomes, too.
    bool add(const Bits& sum, CertainSigns& to) const {
        Bits at_zero = signs_of(plan_.branch_constant);
        std::copy(program_.string_signs.begin(), program_.string_signs.end(), at_zero.begin() + program_.sign_words);
        const bool value = value_of(sum, at_zero);
        const auto is_flipped = [&](const Bits& flips) {
            if (!have_common(flips, signs_)) return false;
            Bits signs = at_zero;
            add_bits(signs, flips);
            return value_of(sum, signs) != value;
        };
        for (size_t k = 0; k < program_.measurements.size(); ++k)
            if (is_flipped(flipped_by(k))) return false;
        Bits parity(plan_.layout.signature_words);
        for (size_t bit = 0; bit < plan_.layout.num_signature_bits; ++bit) {
            const Bits image = row_of(plan_.signature_images, bit);
            if (is_flipped(signs_of(image)) != is_odd_overlap(image, sum)) flip_bit(parity, bit);
        }
        to.parities.insert(to.parities.end(), parity.begin(), parity.end());
        to.values.push_back(value != is_odd_overlap(plan_.branch_constant, sum));
        return true;
    }
    // The sign bits of a branch row, and the signs of measured strings as 0.
    Bits signs_of(Bits row) const {
        row.resize(program_.sign_words);
        row.resize(program_.all_sign_words());
        return row;
    }
    // The sign bits that an outcome flips.
    Bits flipped_by(size_t measurement) const {
        Bits signs = signs_of(row_of(plan_.outcome_effects, outcome_of(measurement)));
        program_.flip_string_signs(measurement, signs.data() + program_.sign_words);
        return signs;
    }
    Bits row_of(const RowTable& rows, size_t number) const {
        Bits row(plan_.branch_words);
        rows.flip_exactly(number, row.data());
        return row;
    }

    const Plan& plan_;
    const EliminationProgram& program_;
    std::map<uint32_t, Bits> obstacles_;  // by the bit of a check or an output
    std::vector<Bits> checks_of_;         // for each measurement, the checks and outputs that its outcome flips
    Bits signs_;                          // that change measured Paulis
    std::vector<Bits> flips_;             // the sign bits that signature bits and outcomes flip
    std::vector<Bits> common_flips_;      // a basis of what pairs of them have in common
};

}  // namespace

CertainChecks certain_checks(const Plan& plan) {
    if (plan.num_outcome_checks == 0 || plan.layout.num_signature_bits + plan.num_outcomes > max_flips) return {};
    const std::shared_ptr<const EliminationProgram> program = elimination_program(plan);
    return program ? CertainSums(plan, *program).find() : CertainChecks{};
}

}  // namespace snc
