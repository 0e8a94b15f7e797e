#include "rates/fault_sets/fault_set_study.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

namespace snc {

namespace {

// The number of examples after which limits are looked at, whatever the number of threads.
constexpr size_t examples_at_a_time = 32;

// The mechanisms, with the bits of their keys as further checks. Few sets flip all that a given one flips, so that they are found
// quickly where all sets of a weight are too many.
FaultSetMechanisms keyed(const FaultSetTable& table) {
    FaultSetMechanisms mechanisms;
    mechanisms.check_words = table.check_words() + table.key_words();
    mechanisms.weights = table.weights();
    mechanisms.sites = table.sites();
    mechanisms.target.resize(mechanisms.check_words);
    for (uint32_t m = 0; m < table.num_mechanisms(); ++m) {
        mechanisms.checks.insert(mechanisms.checks.end(), table.checks(m), table.checks(m) + table.check_words());
        mechanisms.checks.insert(mechanisms.checks.end(), table.flips_of_key(m), table.flips_of_key(m) + table.key_words());
    }
    return mechanisms;
}

}  // namespace

FaultSetStudy::FaultSetStudy(Plan plan, const Kernels& kernels, FaultSetMechanisms mechanisms, std::vector<uint64_t> coins,
                             const Options& options, std::function<void()> interrupted)
    : plan_(std::move(plan)),
      coins_(plan_, std::move(coins)),
      kernels_(kernels),
      table_([&] {
          Interruption interruption(interrupted);
          return FaultSetTable(std::move(mechanisms), options.max_bytes, interruption);
      }()),
      sampler_(table_, options.max_weight),
      options_(options),
      interrupted_(std::move(interrupted)),
      keys_(table_.key_words()),
      never_kept_(table_.key_words()) {
    Interruption interruption(interrupted_);
    list_pairs(interruption);
    find_spans();
}

void FaultSetStudy::find_spans() {
    if (coins_.has_coins() || table_.key_words() == 0) return;
    const std::optional<InsertionLaws> laws = InsertionLaws::of(plan_, kernels_, interrupted_);
    std::optional<KeptSpans> found = laws ? KeptSpans::of(*laws) : std::nullopt;
    if (!found) return;
    spans_.emplace(std::move(*found));
    const auto image_of = [&](std::span<const uint32_t> members, uint64_t* image) {
        std::vector<uint64_t> key(table_.key_words());
        table_.key_of(members, key.data());
        spans_->image_of(key.data(), image);
    };
    base_image_.resize(image_words());
    image_of({}, base_image_.data());
    images_.resize(size_t{table_.num_mechanisms()} * image_words());
    for (uint32_t m = 0; m < table_.num_mechanisms(); ++m) {
        uint64_t* const image = images_.data() + size_t{m} * image_words();
        image_of({&m, 1}, image);
        for (uint32_t w = 0; w < image_words(); ++w) image[w] ^= base_image_[w];
    }
}

void FaultSetStudy::list_pairs(Interruption& interruption) {
    if (!table_.knows_pairs() && table_.bytes_for_pairs() <= options_.max_pair_bytes) table_.list_pairs(interruption);
}

uint64_t FaultSetStudy::num_keys() const {
    const Turns::Turn turn = this->turn();
    return keys_.size();
}

FaultSetStudy::Evaluated FaultSetStudy::evaluated() const {
    const Turns::Turn turn = this->turn();
    return all_evaluated_;
}

double FaultSetStudy::bound_on_twins() const {
    const Turns::Turn turn = this->turn();
    return table_.knows_pairs() ? table_.weight_of_pairs(0) : std::numeric_limits<double>::infinity();
}

void FaultSetStudy::release() {
    const Turns::Turn turn = this->turn();
    table_.forget_pairs();
    keyed_.reset();
    closed_ = {};
    closed_keys_ = {};
    never_kept_ = NumberedRows(table_.key_words());
}

FaultSetStudy::Enumeration FaultSetStudy::enumerate(uint32_t weight, const Weights& circuits, size_t num_circuits,
                                                    const EnumerationLimits& limits, Storage storage) {
    const Turns::Turn turn = this->turn();
    const size_t size = table_.num_mechanisms();
    struct Group {
        NumberedRows keys;
        std::vector<double> masses, left_out;
        uint64_t sets = 0, candidates = 0;
        bool is_done = false;
    };
    const Group empty{NumberedRows(table_.key_words()), {}, std::vector<double>(num_circuits)};
    std::vector<Group> groups(max_groups, empty);
    SearchSteps steps(options_.num_threads, limits.max_steps, limits.max_seconds);
    const auto make_visit = [&](size_t number) {
        return [&, &group = groups[number], may_be_kept = KeptTest(*this, storage),
                key = std::vector<uint64_t>(table_.key_words())](const uint32_t* members, double) mutable {
            ++group.sets;
            const auto mass = [&](size_t c) { return product_of(circuits.data() + c * size, {members, weight}); };
            if (!may_be_kept({members, weight})) {
                for (size_t c = 0; c < num_circuits; ++c) group.left_out[c] += mass(c);
                return;
            }
            ++group.candidates;
            table_.key_of({members, weight}, key.data());
            if (group.keys.size() >= limits.max_keys) steps.end_here();
            const size_t of_key = group.keys.number_of(key.data());
            if (group.masses.size() <= of_key * num_circuits) group.masses.resize((of_key + 1) * num_circuits);
            for (size_t c = 0; c < num_circuits; ++c) group.masses[of_key * num_circuits + c] += mass(c);
        };
    };
    Enumeration found;
    found.left_out.resize(num_circuits);
    NumberedRows keys(table_.key_words());
    // Groups are added up in order, and as soon as they are complete, so that few of them are stored at a time.
    std::mutex adding;
    size_t next_group = 0;
    const auto add_up = [&](size_t done, Interruption& interruption) {
        const std::lock_guard lock(adding);
        Looks look(interruption);
        groups[done].is_done = true;
        for (; next_group < max_groups && groups[next_group].is_done; ++next_group) {
            Group group = std::exchange(groups[next_group], empty);
            found.sets += group.sets;
            found.candidates += group.candidates;
            for (size_t c = 0; c < num_circuits; ++c) found.left_out[c] += group.left_out[c];
            for (uint32_t k = 0; k < group.keys.size(); ++k) {
                look(num_circuits);
                const size_t number = keys.number_of(group.keys.row(k));
                if (found.masses.size() <= number * num_circuits) found.masses.resize((number + 1) * num_circuits);
                for (size_t c = 0; c < num_circuits; ++c) found.masses[number * num_circuits + c] += group.masses[k * num_circuits + c];
            }
            if (keys.size() > limits.max_keys) steps.end_here();
        }
    };
    visit_all(weight, FaultSetGoal::target(table_), steps, make_visit, add_up);
    found.steps = steps.total();
    found.is_complete = !steps.has_ended() && has_at_most(keys, limits.max_laws);
    if (!found.is_complete) return found;
    found.num_keys = keys.size();
    std::vector<uint32_t> numbers;
    try {
        numbers = store(keys, storage, &steps);
    } catch (const SearchSteps::Ended&) {
        found.is_complete = false;
        return found;
    }
    for (uint32_t k = 0; k < keys.size(); ++k) {
        const double* const from = &found.masses[k * num_circuits];
        double* const to = numbers[k] == NumberedRows::none ? found.left_out.data() : &found.masses[found.keys.size() * num_circuits];
        for (size_t c = 0; c < num_circuits; ++c) to[c] = (numbers[k] == NumberedRows::none ? to[c] : 0) + from[c];
        if (numbers[k] != NumberedRows::none) found.keys.push_back(numbers[k]);
    }
    found.masses.resize(found.keys.size() * num_circuits);
    return found;
}

std::vector<double> FaultSetStudy::member_sums(uint32_t weight, const Weights& odds, const std::vector<double>& values, uint32_t columns) {
    const Turns::Turn turn = this->turn();
    const size_t size = table_.num_mechanisms();
    std::vector<std::vector<double>> groups(max_groups, std::vector<double>(size * columns));
    const auto make_visit = [&](size_t number) {
        return [&, &sums = groups[number], key = std::vector<uint64_t>(table_.key_words())](const uint32_t* members, double) mutable {
            table_.key_of({members, weight}, key.data());
            const size_t stored = keys_.find(key.data());
            if (stored >= values.size() / columns) return;
            const double* const of_key = values.data() + stored * columns;
            if (std::all_of(of_key, of_key + columns, [](double value) { return value == 0; })) return;
            const double product = product_of(odds.data(), {members, weight});
            for (uint32_t k = 0; k < weight; ++k)
                for (uint32_t c = 0; c < columns; ++c) sums[size_t{members[k]} * columns + c] += product * of_key[c];
        };
    };
    {
        Interruption interruption(interrupted_);
        list_pairs(interruption);
    }
    SearchSteps steps(options_.num_threads);
    visit_all(weight, FaultSetGoal::target(table_), steps, make_visit);
    std::vector<double> sums(size * columns);
    for (const auto& group : groups)
        for (size_t k = 0; k < sums.size(); ++k) sums[k] += group[k];
    return sums;
}

std::vector<uint32_t> FaultSetStudy::sets_with(uint32_t weight, const std::vector<double>& values) {
    const Turns::Turn turn = this->turn();
    std::vector<std::vector<uint32_t>> groups(max_groups);
    SearchSteps steps(options_.num_threads);
    visit_all(weight, FaultSetGoal::target(table_), steps, [&](size_t number) {
        return [&, &found = groups[number], key = std::vector<uint64_t>(table_.key_words())](const uint32_t* members, double) mutable {
            table_.key_of({members, weight}, key.data());
            const uint32_t stored = keys_.find(key.data());
            if (stored < values.size() && values[stored] > 0) found.insert(found.end(), members, members + weight);
        };
    });
    return joined(std::move(groups));
}

FaultSetStudy::SetsLike FaultSetStudy::sets_like(const std::vector<uint32_t>& examples, uint32_t weight, const LikeLimits& limits) {
    const Turns::Turn turn = this->turn();
    if (!keyed_) {
        Interruption interruption(interrupted_);
        FaultSetTable table(keyed(table_), options_.max_bytes, interruption);
        if (table.bytes_for_pair_filter() <= options_.max_pair_bytes) table.filter_pairs(interruption);
        keyed_ = std::move(table);
    }
    SetsLike found;
    found.is_complete.resize(examples.size() / weight);
    struct OfExample {
        std::vector<uint32_t> members;
        uint64_t steps = 0;
        bool is_complete = false;
    };
    for (size_t first = 0; first < found.is_complete.size() && found.steps < limits.max_steps; first += examples_at_a_time) {
        std::vector<OfExample> batch(std::min(examples_at_a_time, found.is_complete.size() - first));
        run_parts(batch.size(), options_.num_threads, interrupted_, [&](Interruption& interruption) {
            return [&](size_t number) {
                OfExample& own = batch[number];
                const FaultSetGoal goal = FaultSetGoal::of(*keyed_, std::span(examples).subspan((first + number) * weight, weight));
                SearchSteps steps(1, limits.max_steps_each);
                EverySet visitor{[&](const uint32_t* members, double) {
                    own.members.insert(own.members.end(), members, members + weight);
                    if (own.members.size() / weight > limits.max_sets) steps.end_here();
                }};
                FaultSetSearch<decltype(visitor)> search(*keyed_, weight, visitor, goal, [&](uint64_t more) {
                    interruption.look();
                    return steps.add(more);
                });
                try {
                    for (uint32_t part = 0; part < num_search_parts(*keyed_, weight, goal); ++part) search.run_part(part);
                    search.finish();
                    own.is_complete = true;
                } catch (const SearchSteps::Ended&) {
                }
                own.steps = steps.total();
            };
        });
        for (size_t k = 0; k < batch.size(); ++k) {
            found.steps += batch[k].steps;
            const size_t sets = batch[k].members.size() / weight;
            if (!batch[k].is_complete || found.examples.size() + sets > limits.max_sets) continue;
            found.is_complete[first + k] = 1;
            found.members.insert(found.members.end(), batch[k].members.begin(), batch[k].members.end());
            found.examples.insert(found.examples.end(), sets, static_cast<uint32_t>(first + k));
        }
    }
    return found;
}

}  // namespace snc
