#include "rates/set_laws/kept_spans.h"

#include <algorithm>

#include "algebra/bits.h"
#include "plan/plan_reduction.h"
#include "plan/reduction/stabilizer_rows.h"
#include "simulation/branch_row.h"

namespace snc {

namespace {

// The signs that a thread remembers at a time: some hundred bytes each.
constexpr size_t max_remembered = size_t{1} << 16;

// Sets of bits in reduced echelon form: each has its lowest bit alone.
class Echelon {
   public:
    void add(Bits set) {
        for (const Bits& row : rows_)
            if (has_bit(set, lowest_bit(row))) add_bits(set, row);
        if (is_empty(set)) return;
        for (Bits& row : rows_)
            if (has_bit(row, lowest_bit(set))) add_bits(row, set);
        rows_.push_back(std::move(set));
    }
    // Appends a basis of the sets, of numbers below num_bits, that have an even number of members in common with all of these. Returns
    // their number.
    size_t append_dual(size_t num_bits, uint32_t num_words, std::vector<uint64_t>& dual) const {
        Bits leading(num_words);
        for (const Bits& row : rows_) flip_bit(leading, lowest_bit(row));
        for (size_t k = 0; k < num_bits; ++k) {
            if (has_bit(leading, k)) continue;
            Bits set(num_words);
            flip_bit(set, k);
            for (const Bits& row : rows_)
                if (has_bit(row, k)) flip_bit(set, lowest_bit(row));
            dual.insert(dual.end(), set.begin(), set.end());
        }
        return num_bits - rows_.size();
    }

   private:
    std::vector<Bits> rows_;
};

void copy_bits(const uint64_t* row, const std::vector<uint32_t>& bits, uint64_t* to) {
    for (size_t k = 0; k < bits.size(); ++k) to[k / 64] |= (row[bits[k] / 64] >> (bits[k] % 64) & 1) << (k % 64);
}

}  // namespace

std::optional<KeptSpans> KeptSpans::of(const Plan& plan) {
    KeptSpans spans(plan, elimination_program(plan));
    if (!spans.program_ || spans.program_->needs_coefficients() || spans.program_->string_words != 0) return std::nullopt;
    const EliminationProgram& program = *spans.program_;
    Bits signs(plan.branch_words), checks(plan.branch_words);
    for (size_t k = 0; k < program.masks.size(); ++k) signs[k % program.sign_words] |= program.masks[k];
    for (uint32_t outcome = 0; outcome < plan.num_outcomes; ++outcome)
        plan.final_checks.for_each_one(outcome, [&](uint32_t bit) { checks[bit / 64] |= uint64_t{1} << (bit % 64); });
    for_each_bit(signs, [&](size_t bit) { spans.signs_.push_back(static_cast<uint32_t>(bit)); });
    for_each_bit(checks, [&](size_t bit) { spans.checks_.push_back(static_cast<uint32_t>(bit)); });
    spans.sign_words_ = words_for(static_cast<uint32_t>(spans.signs_.size()));
    spans.check_words_ = words_for(static_cast<uint32_t>(spans.checks_.size()));
    spans.effects_.resize(program.measurements.size() * spans.check_words_);
    for (size_t k = 0; k < program.measurements.size(); ++k) {
        Bits effect(plan.branch_words);
        plan.outcome_effects.flip_exactly(static_cast<size_t>(program.measurements[k].outcome), effect.data());
        if (have_common(effect, signs)) return std::nullopt;
        copy_bits(effect.data(), spans.checks_, spans.effects_.data() + k * spans.check_words_);
    }
    return spans;
}

void KeptSpans::image_of(const uint64_t* signature, uint64_t* image) const {
    BranchRow row(plan_);
    row.add_signature(signature);
    std::fill_n(image, image_words(), 0);
    copy_bits(row.words().data(), signs_, image);
    copy_bits(row.words().data(), checks_, image + sign_words_);
}

uint32_t KeptSpans::add_span(const uint64_t* signs, Memory& memory) const {
    if (memory.ends_.size() == max_remembered) {
        memory = Memory(*this);
        memory.signs_.number_of(signs);
    }
    const EliminationProgram& program = *program_;
    Bits row(program.sign_words);
    for (size_t k = 0; k < signs_.size(); ++k)
        if ((signs[k / 64] >> (k % 64) & 1) != 0) flip_bit(row, signs_[k]);
    // Each measured Pauli has an X on a further qubit of its own, whose X is 1 throughout: what an outcome is made of.
    const uint32_t words = program.num_words, all_words = words + words_for(static_cast<uint32_t>(program.measurements.size()));
    StabilizerRows rows(64 * all_words);
    std::vector<uint64_t> measured(2 * size_t{words}), pauli(2 * size_t{all_words});
    std::vector<Bits> flips(program.measurements.size());  // for each fair outcome, the checks that it flips with all that follow it
    Bits offset(check_words_);
    uint64_t strings = 0, products = 0, axes = 0;
    for (size_t k = 0; k < program.measurements.size(); ++k) {
        uint32_t i_power = program.write_pauli(k, row.data(), nullptr, measured.data(), strings);
        std::ranges::fill(pauli, 0);
        std::copy_n(measured.data(), words, pauli.data());
        std::copy_n(measured.data() + words, words, pauli.data() + all_words);
        pauli[words + k / 64] |= uint64_t{1} << (k % 64);
        const int32_t bit = rows.reduce(pauli.data(), i_power, axes, products);
        const Bits effect(effects_.begin() + static_cast<ptrdiff_t>(k * check_words_),
                          effects_.begin() + static_cast<ptrdiff_t>((k + 1) * check_words_));
        if (bit >= 0) {
            rows.add(pauli.data(), i_power, axes, bit);
            add_bits(flips[k], effect);
            continue;
        }
        if ((i_power & 2) != 0) add_bits(offset, effect);
        for_each_bit(Bits(pauli.begin() + words, pauli.begin() + all_words), [&](size_t coin) {
            if (coin != k) add_bits(flips[coin], effect);
        });
    }
    Echelon echelon;
    for (Bits& each : flips) echelon.add(std::move(each));
    const size_t num_parities = echelon.append_dual(checks_.size(), check_words_, memory.parities_);
    memory.ends_.push_back((memory.ends_.empty() ? 0 : memory.ends_.back()) + num_parities);
    memory.offsets_.insert(memory.offsets_.end(), offset.begin(), offset.end());
    return static_cast<uint32_t>(memory.ends_.size() - 1);
}

}  // namespace snc
