#include "rates/set_laws/kept_spans.h"

#include <algorithm>
#include <bit>

#include "algebra/bits.h"

namespace snc {

namespace {

// The signs that a thread remembers at a time: some hundred bytes each.
constexpr size_t max_remembered = size_t{1} << 16;

// Vectors of bits in reduced echelon form.
class Echelon {
   public:
    void add(uint64_t vector) {
        for (uint64_t row : rows_)
            if ((vector & std::bit_floor(row)) != 0) vector ^= row;
        if (vector == 0) return;
        for (uint64_t& row : rows_)
            if ((row & std::bit_floor(vector)) != 0) row ^= vector;
        rows_.push_back(vector);
    }
    // The vectors of so many bits with which all of these have an even number of ones in common: a basis.
    void append_dual(uint32_t num_bits, std::vector<uint64_t>& dual) const {
        uint64_t leading = 0;
        for (uint64_t row : rows_) leading |= std::bit_floor(row);
        for (uint32_t k = 0; k < num_bits; ++k) {
            const uint64_t bit = uint64_t{1} << k;
            if ((leading & bit) != 0) continue;
            uint64_t vector = bit;
            for (uint64_t row : rows_)
                if ((row & bit) != 0) vector |= std::bit_floor(row);
            dual.push_back(vector);
        }
    }

   private:
    std::vector<uint64_t> rows_;
};

}  // namespace

std::optional<KeptSpans> KeptSpans::of(const InsertionLaws& laws) {
    KeptSpans spans(laws);
    for (uint32_t bit = 0; bit < laws.reversals_.size(); ++bit) {
        const bool is_fixed = std::ranges::any_of(laws.fixing_, [&](const auto& flip) { return flip.check == bit; });
        if (!laws.reversals_[bit].empty()) spans.signs_.push_back(bit);
        if (has_bit(laws.checks_, bit) && !is_fixed) spans.rest_.push_back(bit);
    }
    for (const auto& flip : laws.free_)
        if (std::ranges::any_of(spans.signs_, [&](uint32_t bit) { return has_bit(flip.row, bit); })) return std::nullopt;
    spans.sign_words_ = static_cast<uint32_t>((spans.signs_.size() + 63) / 64);
    spans.rest_words_ = static_cast<uint32_t>((spans.rest_.size() + 63) / 64);
    return spans;
}

void KeptSpans::image_of(const uint64_t* signature, uint64_t* image) const {
    const auto [row, outcomes] = laws_.solved(signature);
    std::fill_n(image, image_words(), 0);
    const auto copy = [&](const std::vector<uint32_t>& bits, uint64_t* to) {
        for (size_t k = 0; k < bits.size(); ++k) to[k / 64] |= uint64_t{has_bit(row, bits[k])} << (k % 64);
    };
    copy(signs_, image);
    image[sign_words_] = outcomes;
    copy(rest_, image + sign_words_ + 1);
}

uint32_t KeptSpans::add_span(const uint64_t* signs, Memory& memory) const {
    if (memory.spans_.size() == max_remembered) {
        memory = Memory(*this);
        memory.signs_.number_of(signs);
    }
    std::vector<uint64_t> row(laws_.checks_.size());
    for (size_t k = 0; k < signs_.size(); ++k)
        if ((signs[k / 64] >> (k % 64) & 1) != 0) row[signs_[k] / 64] |= uint64_t{1} << (signs_[k] % 64);
    const InsertionLaws::Eighths eighths = laws_.eighths_of(row);
    Memory::Span span{0, memory.parities_.size(), 0};
    Echelon echelon;
    for (size_t k = 0; k < laws_.insertions_.size(); ++k) {
        if (eighths[k] % 2 == 1) echelon.add(laws_.insertions_[k].outcomes);
        if (eighths[k] % 4 == 2) span.offset ^= laws_.insertions_[k].outcomes;
    }
    for (const auto& flip : laws_.free_) echelon.add(flip.outcomes);
    echelon.append_dual(laws_.plan_.num_outcomes, memory.parities_);
    span.end_parity = memory.parities_.size();
    memory.spans_.push_back(span);
    return static_cast<uint32_t>(memory.spans_.size() - 1);
}

}  // namespace snc
