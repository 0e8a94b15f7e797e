// The branch row of one shot, in words (kernels/shared/driver.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/shared/driver.h"
#include "plan/plan.h"

namespace snc {

class BranchRow {
   public:
    // The row of signature 0 before all outcomes, or else the zero row, which becomes a difference of rows.
    explicit BranchRow(const Plan& plan, bool is_difference = false)
        : plan_(&plan), words_(is_difference ? std::vector<uint64_t>(plan.branch_words) : plan.branch_constant) {}

    const std::vector<uint64_t>& words() const { return words_; }
    const uint64_t* outputs() const { return words_.data() + plan_->sign_words; }
    // Whether a bit is set; there is none with a negative number.
    bool has(int32_t bit) const { return bit >= 0 && (words_[static_cast<uint32_t>(bit) / 64] >> (static_cast<uint32_t>(bit) % 64) & 1) != 0; }
    void add(const BranchRow& other) {
        for (size_t w = 0; w < words_.size(); ++w) words_[w] ^= other.words_[w];
    }
    void add_signature(const uint64_t* signature) { snc::add_signature(*this, signature, plan_->layout.signature_words, true); }

    void flip_image(uint32_t bit, bool) { plan_->signature_images.flip_exactly(bit, words_.data()); }
    void flip_effect(uint32_t outcome, bool) { plan_->outcome_effects.flip_exactly(outcome, words_.data()); }
    bool passing(uint32_t outcome) const { return !plan_->final_checks.meets(outcome, words_.data()); }

   private:
    const Plan* plan_;
    std::vector<uint64_t> words_;
};

}  // namespace snc
