#include "rates/fault_sets/fault_set_study.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace snc {

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
    std::optional<KeptSpans> found = KeptSpans::of(plan_);
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

void FaultSetStudy::release() {
    const Turns::Turn turn = this->turn();
    table_.forget_pairs();
    never_kept_ = NumberedRows(table_.key_words());
}

FaultSetStudy::Enumeration FaultSetStudy::enumerate(uint32_t weight, const EnumerationLimits& limits) {
    const Turns::Turn turn = this->turn();
    struct Group {
        NumberedRows keys;
        std::vector<double> masses;
        double left_out = 0;
        uint64_t sets = 0, candidates = 0;
        bool is_done = false;
    };
    const Group empty{NumberedRows(table_.key_words()), {}};
    std::vector<Group> groups(max_groups, empty);
    SearchSteps steps(options_.num_threads, limits.max_steps, limits.max_seconds);
    const auto make_visit = [&](size_t number) {
        return [&, &group = groups[number], may_be_kept = KeptTest(*this),
                key = std::vector<uint64_t>(table_.key_words())](const uint32_t* members, double mass) mutable {
            ++group.sets;
            if (!may_be_kept({members, weight})) {
                group.left_out += mass;
                return;
            }
            ++group.candidates;
            table_.key_of({members, weight}, key.data());
            if (group.keys.size() >= limits.max_keys) steps.end_here();
            const size_t of_key = group.keys.number_of(key.data());
            if (of_key == group.masses.size()) group.masses.push_back(0);
            group.masses[of_key] += mass;
        };
    };
    Enumeration found;
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
            found.left_out += group.left_out;
            for (uint32_t k = 0; k < group.keys.size(); ++k) {
                look();
                const size_t number = keys.number_of(group.keys.row(k));
                if (number == found.masses.size()) found.masses.push_back(0);
                found.masses[number] += group.masses[k];
            }
            if (keys.size() > limits.max_keys) steps.end_here();
        }
    };
    visit_all(weight, steps, make_visit, add_up);
    found.steps = steps.total();
    found.is_complete = !steps.has_ended() && has_at_most(keys, limits.max_laws);
    if (!found.is_complete) return found;
    found.num_keys = keys.size();
    std::vector<uint32_t> numbers;
    try {
        numbers = store(keys, &steps);
    } catch (const SearchSteps::Ended&) {
        found.is_complete = false;
        return found;
    }
    for (uint32_t k = 0; k < keys.size(); ++k) {
        if (numbers[k] == NumberedRows::none) {
            found.left_out += found.masses[k];
            continue;
        }
        found.masses[found.keys.size()] = found.masses[k];
        found.keys.push_back(numbers[k]);
    }
    found.masses.resize(found.keys.size());
    return found;
}

std::vector<double> FaultSetStudy::member_sums(uint32_t weight, const std::vector<double>& values, uint32_t columns) {
    const Turns::Turn turn = this->turn();
    const size_t size = table_.num_mechanisms();
    std::vector<std::vector<double>> groups(max_groups, std::vector<double>(size * columns));
    const auto make_visit = [&](size_t number) {
        return [&, &sums = groups[number], key = std::vector<uint64_t>(table_.key_words())](const uint32_t* members, double mass) mutable {
            table_.key_of({members, weight}, key.data());
            const size_t stored = keys_.find(key.data());
            if (stored >= values.size() / columns) return;
            const double* const of_key = values.data() + stored * columns;
            if (std::all_of(of_key, of_key + columns, [](double value) { return value == 0; })) return;
            for (uint32_t k = 0; k < weight; ++k)
                for (uint32_t c = 0; c < columns; ++c) sums[size_t{members[k]} * columns + c] += mass * of_key[c];
        };
    };
    {
        Interruption interruption(interrupted_);
        list_pairs(interruption);
    }
    SearchSteps steps(options_.num_threads);
    visit_all(weight, steps, make_visit);
    std::vector<double> sums(size * columns);
    for (const auto& group : groups)
        for (size_t k = 0; k < sums.size(); ++k) sums[k] += group[k];
    return sums;
}

std::vector<uint32_t> FaultSetStudy::sets_with(uint32_t weight, const std::vector<double>& values) {
    const Turns::Turn turn = this->turn();
    std::vector<std::vector<uint32_t>> groups(max_groups);
    SearchSteps steps(options_.num_threads);
    visit_all(weight, steps, [&](size_t number) {
        return [&, &found = groups[number], key = std::vector<uint64_t>(table_.key_words())](const uint32_t* members, double) mutable {
            table_.key_of({members, weight}, key.data());
            const uint32_t stored = keys_.find(key.data());
            if (stored < values.size() && values[stored] > 0) found.insert(found.end(), members, members + weight);
        };
    });
    return joined(std::move(groups));
}

}  // namespace snc
