// Outcome laws of signatures as sums over Paulis that are inserted into the certain path of signature 0. They take no coefficient
// vector.
//
// Let all rotations be diagonal, as T gates are in a circuit of T, CX and measurements of X, and let all outcomes of signature 0 be
// certain. A signature reverses the angles of some rotations:
//     exp(i φ P) = exp(-i φ P) (cos 2φ + i sin 2φ P),
// so that its amplitude of some outcomes is a sum over all sets of these rotations, of which the Paulis P are inserted into the path of
// signature 0. A P commutes with all rotations. It flips the outcomes of the MEASUREs with which it anticommutes, so that only the
// sets count that turn the outcomes into the certain ones: they are the solutions of linear equations. With 2φ = ±π/4, as
// for T gates, each solution has the same modulus and a phase i^k, and a quadratic form gives k: see quarter_turn_form.h. All probabilities
// are sums of few powers of 2, without rounding.
//
// Postselection leaves few outcomes that can be kept, so that the time for a signature is that for some elimination over GF(2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "algebra/quarter_turn_form.h"
#include "cpu/kernels.h"
#include "plan/plan.h"

namespace snc {

class InsertionLaws {
   public:
    // Nothing if the plan is not of this kind.
    static std::optional<InsertionLaws> of(const Plan& plan, const Kernels& kernels, const std::function<void()>& interrupted);

    // A way in which shots with a signature are kept.
    struct Branch {
        double probability;
        std::vector<uint64_t> outputs;  // that outcomes and the signature flip
    };
    std::vector<Branch> kept_branches(const uint64_t* signature) const;

   private:
    friend class KeptSpans;

    explicit InsertionLaws(const Plan& plan) : plan_(plan) {}

    using Row = std::vector<uint64_t>;  // a branch row
    // Outcomes to flip together, and what that does to the branch row.
    struct OutcomeFlip {
        uint64_t outcomes;
        Row row;
        size_t check;  // the bit of the row that no other OutcomeFlip of the list flips
    };
    // Where an inserted Pauli ends: it flips outcomes, and its z-mask at the end.
    struct Insertion {
        uint64_t outcomes, mask;

        bool operator==(const Insertion&) const = default;
    };
    // A reversed angle of a term, 2φ in units of π/4.
    struct Reversal {
        uint32_t insertion;
        uint32_t eighths;  // of a turn of φ P, modulo 8
    };

    using Eighths = std::array<uint8_t, WideBits::max_size>;  // for each insertion, modulo 8

    bool find_insertions(std::vector<uint32_t>& of_operations);
    bool find_reversals(const std::vector<uint32_t>& of_operations, const Row& row);
    bool find_outcome_flips();
    // The branch row of a signature and the outcomes with which all checks that outcomes can fix are 0.
    std::pair<Row, uint64_t> solved(const uint64_t* signature) const;
    // What the signs of a row reverse.
    Eighths eighths_of(const Row& row) const;
    double probability_of(const Row& row, uint64_t outcomes) const;

    const Plan& plan_;
    std::vector<Insertion> insertions_;
    std::vector<std::vector<Reversal>> reversals_;  // for each bit of the branch row
    std::vector<OutcomeFlip> fixing_;  // each turns off one check
    std::vector<OutcomeFlip> free_;    // these flip no check
    Row checks_;                       // the bits that are checks
    Row outputs_;                      // of the path of signature 0
};

}  // namespace snc
