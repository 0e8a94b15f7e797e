#include "rates/fault_sets/fault_set_bounds.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/parallel_parts.h"
#include "plan/row_table.h"

namespace snc {

namespace {

// Mechanisms that flip the same checks.
struct MechanismKind {
    std::vector<uint32_t> checks;  // ascending
    double weight;
};

std::vector<MechanismKind> kinds_of(const FaultSetTable& table, Looks& look) {
    std::map<std::vector<uint32_t>, double> weights;
    for (uint32_t m = 0; m < table.num_mechanisms(); ++m) {
        look(table.num_checks());
        std::vector<uint32_t> checks;
        for_each_one(table.checks(m), table.check_words(), [&](uint32_t check) { checks.push_back(check); });
        weights[checks] += table.weight(m);
    }
    std::vector<MechanismKind> kinds;
    for (const auto& [checks, weight] : weights) kinds.push_back({checks, weight});
    return kinds;
}

// A number for each pair of first checks x < y, and for x alone (y = the number of checks): a bound for all sets of checks that
// begin like that.
class Pairs {
   public:
    explicit Pairs(uint32_t num_checks) : stride_(num_checks + 1), values_(stride_ * stride_) {}
    double* row(uint32_t x) { return values_.data() + x * stride_; }
    const double* row(uint32_t x) const { return values_.data() + x * stride_; }
    double& at(uint32_t x, uint32_t y) { return values_[x * stride_ + y]; }
    double at(uint32_t x, uint32_t y) const { return values_[x * stride_ + y]; }

   private:
    size_t stride_;
    std::vector<double> values_;
};

// The bounds for sets of one size.
struct Level {
    explicit Level(uint32_t num_checks) : pairs(num_checks), later(num_checks), any(num_checks + 2) {}

    // Fills `later` and `any`.
    void close(uint32_t num_checks) {
        for (uint32_t x = 0; x < num_checks; ++x) {
            double most = 0;
            for (uint32_t y = num_checks; y > x; --y) later.at(x, y) = most = std::max(most, pairs.at(x, y));
        }
        any[num_checks] = none;
        for (uint32_t x = num_checks; x-- > 0;) any[x] = std::max(any[x + 1], later.at(x, x + 1));
    }
    double of(const std::vector<uint32_t>& checks, uint32_t num_checks) const {
        return checks.empty() ? none : pairs.at(checks[0], checks.size() > 1 ? checks[1] : num_checks);
    }

    Pairs pairs;
    Pairs later;              // at x, y: the largest of x, y' with y' >= y
    std::vector<double> any;  // at y: the largest of all that begin at y or later, or are empty
    double none = 0;          // for the empty set of checks
};

// Adds what a kind that flips `x` contributes to the bounds that begin with x.
void add_kind(const Level& before, const MechanismKind& kind, uint32_t x, uint32_t num_checks, double* bounds) {
    const auto at = std::ranges::lower_bound(kind.checks, x);
    const auto num_below = at - kind.checks.begin();
    const auto next = at + 1;
    const double weight = kind.weight;
    const auto add_from = [&](uint32_t begin, uint32_t end, const double* values) {
        for (uint32_t y = begin; y < end; ++y) bounds[y] += weight * values[y];
    };
    const auto add_constant = [&](uint32_t begin, uint32_t end, double value) {
        for (uint32_t y = begin; y < end; ++y) bounds[y] += weight * value;
    };
    const uint32_t end = num_checks + 1;
    if (num_below >= 2) {
        add_constant(x + 1, end, before.pairs.at(kind.checks[0], kind.checks[1]));
        return;
    }
    if (num_below == 1) {
        const uint32_t first = kind.checks[0], second = next == kind.checks.end() ? end : *next;
        add_from(x + 1, std::min(second, end), before.pairs.row(first));
        if (second == end) return;
        bounds[second] += weight * before.later.at(first, second + 1);
        add_constant(second + 1, end, before.pairs.at(first, second));
        return;
    }
    const uint32_t first = next == kind.checks.end() ? num_checks : *next;
    for (uint32_t y = x + 1; y < first; ++y) bounds[y] += weight * before.later.at(y, y + 1);
    if (first == num_checks) {
        bounds[num_checks] += weight * before.none;
        return;
    }
    bounds[first] += weight * before.any[first + 1];
    const uint32_t second = next + 1 == kind.checks.end() ? end : *(next + 1);
    add_from(first + 1, std::min(second, end), before.pairs.row(first));
    if (second == end) return;
    bounds[second] += weight * before.later.at(first, second + 1);
    add_constant(second + 1, end, before.pairs.at(first, second));
}

}  // namespace

FaultSetBounds fault_set_bounds(const FaultSetTable& table, uint32_t max_weight, const std::vector<double>& closed, double negligible,
                                uint32_t num_threads, const std::function<void()>& interrupted) {
    const uint32_t num_checks = table.num_checks();
    std::vector<MechanismKind> kinds;
    std::vector<std::vector<uint32_t>> flipping(num_checks);
    std::vector<uint32_t> target;
    {
        Interruption interruption(interrupted);
        Looks look(interruption);
        kinds = kinds_of(table, look);
    }
    for (uint32_t k = 0; k < kinds.size(); ++k)
        for (uint32_t check : kinds[k].checks) flipping[check].push_back(k);
    for_each_one(table.target(), table.check_words(), [&](uint32_t check) { target.push_back(check); });
    double largest_flip = 0, total = 0, of_no_check = 0;
    for (const MechanismKind& kind : kinds) total += kind.weight;
    for (const auto& of_check : flipping) {
        double sum = 0;
        for (uint32_t k : of_check) sum += kinds[k].weight;
        largest_flip = std::max(largest_flip, sum);
    }

    FaultSetBounds bounds;
    const auto add = [&](const Level& level) {
        bounds.passing.push_back(level.of(target, num_checks));
        bounds.most.push_back(level.any[0]);
    };
    Level before(num_checks), level(num_checks);
    bool is_negligible = false;
    before.none = 1;
    before.close(num_checks);
    add(before);
    for (uint32_t size = 1; size <= max_weight; ++size) {
        // From then on, as the bounds fall with the size; if not, the simpler ones are bounds, too.
        is_negligible = is_negligible || bounds.most.back() < negligible;
        if (is_negligible) {
            // One member flips the first check, if there is one; if not, every member is counted.
            const double last = bounds.most.back();
            const double none = total / size * last;
            bounds.most.push_back(std::max(largest_flip * last, none));
            bounds.passing.push_back(target.empty() ? none : largest_flip * last);
            continue;
        }
        if (size == 1) {
            for (const MechanismKind& kind : kinds) {
                if (kind.checks.empty()) {
                    of_no_check = kind.weight;
                    continue;
                }
                double& bound = level.pairs.at(kind.checks[0], kind.checks.size() > 1 ? kind.checks[1] : num_checks);
                bound = std::max(bound, kind.weight);
            }
            level.none = of_no_check;
        } else {
            run_parts(num_checks, num_threads, interrupted, [&](Interruption& interruption) {
                return [&](size_t part) {
                    const auto x = static_cast<uint32_t>(part);
                    Looks look(interruption);
                    std::fill_n(level.pairs.row(x), num_checks + 1, 0.0);
                    for (uint32_t k : flipping[x]) {
                        look(num_checks);
                        add_kind(before, kinds[k], x, num_checks, level.pairs.row(x));
                    }
                };
            });
            double sum = 0;
            for (const MechanismKind& kind : kinds) sum += kind.weight * before.of(kind.checks, num_checks);
            level.none = sum / size;
        }
        if (size < closed.size()) level.none = std::min(level.none, closed[size]);
        level.close(num_checks);
        add(level);
        std::swap(before, level);
    }
    return bounds;
}

}  // namespace snc
