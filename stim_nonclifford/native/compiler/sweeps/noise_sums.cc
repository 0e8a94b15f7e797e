#include "compiler/sweeps/noise_sums.h"

#include <map>

namespace snc {

void NoiseSums::add_site(const std::vector<std::pair<SparseRow, double>>& choices) {
    std::map<SparseRow, size_t> places;
    const size_t first = sites_.rows.size();
    for (const auto& [effect, probability] : choices) {
        if (effect.empty()) continue;
        const auto [place, is_new] = places.try_emplace(effect, sites_.rows.size());
        if (is_new) {
            sites_.rows.append(effect);
            sites_.probabilities.push_back(0.0);
            sites_.numbers.push_back(sites_.count);
        }
        sites_.probabilities[place->second] += probability;
    }
    sites_.count += sites_.rows.size() > first;
}

NoiseSums NoiseSums::fixed(SignChoices& signs) const {
    NoiseSums result;
    for (size_t k = 0; k < rates_.rows().size(); ++k) result.add(signs.fixed(rates_.rows()[k]), rates_.sums()[k]);
    for (size_t k = 0; k < sites_.numbers.size();) {
        std::vector<std::pair<SparseRow, double>> choices;
        const int32_t site = sites_.numbers[k];
        for (; k < sites_.numbers.size() && sites_.numbers[k] == site; ++k)
            choices.emplace_back(signs.fixed(sites_.rows[k]), sites_.probabilities[k]);
        result.add_site(choices);
    }
    return result;
}

}  // namespace snc
