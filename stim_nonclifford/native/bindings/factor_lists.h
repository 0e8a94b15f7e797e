// Paulis and gates as Python passes them: lists of qubits and codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "program/program.h"

namespace snc {

using FactorList = std::vector<std::pair<uint32_t, uint32_t>>;

inline std::vector<QubitPauli> factors_of(const FactorList& list) {
    std::vector<QubitPauli> factors;
    for (const auto& [qubit, code] : list) factors.push_back({qubit, code});
    return factors;
}

inline FactorList to_list(const std::vector<QubitPauli>& factors) {
    FactorList list;
    for (const auto& [qubit, code] : factors) list.emplace_back(qubit, code);
    return list;
}

inline GateTables to_gate(size_t num_targets, std::vector<std::vector<uint32_t>> pullback,
                          const std::vector<std::pair<FactorList, bool>>& inverse) {
    GateTables gate{num_targets, std::move(pullback), {}};
    for (const auto& [factors, is_negative] : inverse) gate.inverse.push_back({factors_of(factors), is_negative});
    return gate;
}

}  // namespace snc
