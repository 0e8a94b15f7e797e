#include "rates/set_laws/fault_set_laws.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "algebra/bits.h"
#include "base/parallel_parts.h"
#include "simulation/path_simulation.h"

namespace snc {

namespace {

// Signatures that a thread takes at a time: few of few, so that no thread waits long for the others; neighbours share work.
size_t chunk_size_of(size_t count) { return std::clamp(count / 16, size_t{256}, size_t{4096}); }

// The questions of the simulation about a signature, in its order: parities of bits.
class Questions {
   public:
    Questions(const Plan& plan, const PathSimulation& simulation) : words_(plan.layout.signature_words) {
        const size_t num_operations = plan.operations.size();
        // For each bit of the branch row, the number of operations up to the first one that reads it.
        std::vector<size_t> positions;
        for (const uint32_t first : simulation.first_with()) positions.push_back(size_t{first} + 1);
        for (int32_t outcome = 0; outcome < static_cast<int32_t>(plan.num_outcomes); ++outcome)
            plan.final_checks.for_each_one(static_cast<size_t>(outcome), [&](uint32_t bit) {
                positions[bit] = std::min(positions[bit], simulation.operations_up_to(outcome));
            });
        std::vector<size_t> order(positions.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::ranges::stable_sort(order, {}, [&](size_t bit) { return positions[bit]; });
        Rank known(size_t{64} * words_);
        std::vector<uint64_t> parities(order.size() * words_);
        for (uint32_t s = 0; s < plan.layout.num_signature_bits; ++s)
            plan.signature_images.for_each_one(s, [&](uint32_t bit) {
                if (bit < order.size()) parities[size_t{bit} * words_ + s / 64] |= uint64_t{1} << (s % 64);
            });
        for (size_t bit : order) {
            if (positions[bit] > num_operations) break;
            const std::span<const uint64_t> parity(parities.data() + bit * words_, words_);
            if (known.add({parity.begin(), parity.end()})) {  // the answer does not follow from earlier answers
                parities_.insert(parities_.end(), parity.begin(), parity.end());
                positions_.push_back(positions[bit]);
            }
        }
    }

    // The number of questions up to an operation.
    size_t before_operation(size_t operations) const {
        return static_cast<size_t>(std::ranges::upper_bound(positions_, operations) - positions_.begin());
    }
    size_t size() const { return positions_.size(); }
    uint32_t answer_words() const { return std::max(1U, words_for(static_cast<uint32_t>(size()))); }
    // The answers for a signature; the first one is the leading bit of the first word.
    void answer(const uint64_t* signature, uint64_t* answers) const {
        std::fill_n(answers, answer_words(), 0);
        for (size_t q = 0; q < size(); ++q) {
            uint64_t sum = 0;
            for (uint32_t w = 0; w < words_; ++w) sum ^= signature[w] & parities_[q * words_ + w];
            answers[q / 64] |= static_cast<uint64_t>(__builtin_parityll(sum)) << (63 - q % 64);
        }
    }

   private:
    uint32_t words_;
    std::vector<uint64_t> parities_;  // [questions][signature_words]
    std::vector<size_t> positions_;   // for each question, the number of operations up to the one that asks it
};

// Signatures in the order of their answers.
struct Sorted {
    const Plan& plan;
    const Questions& questions;
    const std::vector<uint64_t>& signatures;
    std::vector<uint64_t> answers;  // [signatures][answer_words]
    std::vector<uint32_t> order;

    const uint64_t* signature(size_t place) const { return signatures.data() + size_t{order[place]} * plan.layout.signature_words; }
    // Whether two signatures have the same answers to the first `count` questions.
    bool agree(size_t a, size_t b, size_t count) const {
        const uint64_t* x = answers.data() + size_t{order[a]} * questions.answer_words();
        const uint64_t* y = answers.data() + size_t{order[b]} * questions.answer_words();
        for (; count >= 64; count -= 64)
            if (*x++ != *y++) return false;
        return count == 0 || (*x ^ *y) >> (64 - count) == 0;
    }
};

// The ways in which shots of some signatures are kept.
struct Part {
    struct Entry {
        uint32_t signature;
        double probability;
    };
    std::vector<Entry> entries;
    std::vector<uint64_t> outputs;
    std::vector<double> values;
};

// Runs the simulations of a range of signatures.
class Walk {
   public:
    Walk(const Sorted& sorted, const PathSimulation& simulation, Interruption& interruption)
        : sorted_(sorted), simulation_(simulation, [&interruption] { interruption.look(); }), look_(interruption) {}

    Part run(size_t begin, size_t end) {
        walk(begin, end, nullptr, 1);
        return std::exchange(found_, {});
    }

   private:
    using Checkpoint = PathSimulation::Checkpoint;
    using Stop = PathSimulation::Stop;

    void set_off(size_t place, const Checkpoint* from) {
        simulation_.choose({sorted_.signature(place), sorted_.plan.layout.signature_words});
        if (from == nullptr)
            simulation_.start();
        else
            simulation_.resume(*from);  // whose checks have not fired for any of the range
    }

    // Signatures [begin, end) agree in all answers before a checkpoint; `probability` is that of the path to the checkpoint.
    void walk(size_t begin, size_t end, const Checkpoint* from, double probability) {
        while (begin < end) {
            look_(steps_of_walk);
            set_off(begin, from);
            const Stop stop = simulation_.advance();
            begin = branch(begin, end_of_group(begin, end, stop), from, stop, probability);
        }
    }

    // The end of the signatures from `begin` on that agree up to a stop.
    size_t end_of_group(size_t begin, size_t end, const Stop& stop) const {
        const size_t asked = end - begin > 1 ? questions_up_to(stop) : 0;
        size_t group = begin + 1;
        while (group < end && sorted_.agree(begin, group, asked)) ++group;
        return group;
    }

    size_t questions_up_to(const Stop& stop) const {
        if (stop.outcome == PathSimulation::kept) return sorted_.questions.size();
        if (stop.outcome == PathSimulation::discarded) return sorted_.questions.before_operation(simulation_.operations_made());
        return sorted_.questions.before_operation(simulation_.operations_up_to(stop.outcome));
    }

    // Signatures [begin, end) agree up to a stop. While only one of the outcomes is kept for a single one, no checkpoint is needed;
    // without room for one, signatures that differ later set off again. Returns the first signature that is left to do.
    size_t branch(size_t begin, size_t end, const Checkpoint* from, Stop stop, double probability) {
        while (stop.outcome >= 0) {
            const bool discards[2] = {simulation_.would_discard(false), simulation_.would_discard(true)};
            if (discards[0] && discards[1]) return end;
            const bool has_room = bytes_ + simulation_.checkpoint_bytes() <= max_bytes_of_checkpoints && depth_ < max_depth;
            if (discards[0] == discards[1] || (end - begin > 1 && has_room)) {
                for (bool outcome : {false, true})
                    if (!discards[outcome]) go_on(begin, end, from, stop, outcome, outcome && !discards[0], probability);
                return end;
            }
            const bool outcome = discards[0];
            probability *= outcome ? stop.probability_of_one : 1 - stop.probability_of_one;
            simulation_.take(outcome);
            stop = simulation_.advance();
            end = end_of_group(begin, end, stop);
        }
        if (stop.outcome == PathSimulation::kept) note(begin, end, probability);
        return end;
    }

    // Goes on after an outcome at a stop; `again`: the simulation has been there, and goes there from the last checkpoint once more.
    void go_on(size_t begin, size_t end, const Checkpoint* from, const Stop& stop, bool outcome, bool again, double probability) {
        if (again) {
            set_off(begin, from);
            for (Stop here = simulation_.advance(); here.outcome != stop.outcome; here = simulation_.advance()) {
                if (here.outcome < 0) throw std::logic_error("A repeated simulation took another path.");
                simulation_.take(simulation_.would_discard(false));
            }
        }
        simulation_.take(outcome);
        const Checkpoint after = simulation_.shared_checkpoint();
        const size_t bytes = simulation_.checkpoint_bytes();
        bytes_ += bytes;
        ++depth_;
        walk(begin, end, &after, probability * (outcome ? stop.probability_of_one : 1 - stop.probability_of_one));
        bytes_ -= bytes;
        --depth_;
    }

    // Shots are kept here.
    void note(size_t begin, size_t end, double probability) {
        const Plan& plan = sorted_.plan;
        const uint32_t words = plan.layout.output_words;
        BranchRow of_first(plan, true);
        of_first.add_signature(sorted_.signature(begin));
        for (size_t place = begin; place < end; ++place) {
            found_.entries.push_back({sorted_.order[place], probability});
            const size_t at = found_.outputs.size();
            found_.outputs.insert(found_.outputs.end(), simulation_.outputs(), simulation_.outputs() + words);
            found_.values.insert(found_.values.end(), simulation_.values().begin(), simulation_.values().end());
            if (place == begin) continue;
            BranchRow difference = of_first;
            difference.add_signature(sorted_.signature(place));
            for (uint32_t w = 0; w < words; ++w) found_.outputs[at + w] ^= difference.outputs()[w];
        }
    }

    // A walk takes at least as long as so many look-ups.
    static constexpr uint64_t steps_of_walk = 64;
    // Of the checkpoints that wait: their memory, and their number, as the walk calls itself for each of them.
    static constexpr size_t max_bytes_of_checkpoints = size_t{64} << 20, max_depth = 1000;

    const Sorted& sorted_;
    PathSimulation simulation_;
    Looks look_;
    size_t bytes_ = 0, depth_ = 0;
    Part found_;
};

std::vector<Part> simulate_all(const Plan& plan, const Kernels& kernels, const std::vector<uint64_t>& signatures, size_t count,
                               uint32_t num_threads, const std::function<void()>& interrupted) {
    Interruption interruption(interrupted);
    const PathSimulation simulation(plan, kernels, [&] { interruption.look(); });
    const Questions questions(plan, simulation);
    Sorted sorted{plan, questions, signatures, std::vector<uint64_t>(count * questions.answer_words()), std::vector<uint32_t>(count)};
    const uint32_t answer_words = questions.answer_words();
    Looks look(interruption);
    for (size_t k = 0; k < count; ++k) {
        look(questions.size());
        questions.answer(signatures.data() + k * plan.layout.signature_words, &sorted.answers[k * answer_words]);
    }
    std::iota(sorted.order.begin(), sorted.order.end(), 0U);
    sort_with_looks(sorted.order, interruption, [&](uint32_t a, uint32_t b) {
        const uint64_t *x = &sorted.answers[size_t{a} * answer_words], *y = &sorted.answers[size_t{b} * answer_words];
        const auto order = std::lexicographical_compare_three_way(x, x + answer_words, y, y + answer_words);
        return order != 0 ? order < 0 : a < b;
    });
    const size_t chunk_size = chunk_size_of(count);
    std::vector<Part> parts((count + chunk_size - 1) / chunk_size);
    run_parts(parts.size(), num_threads, interruption, [&] {
        return [&, walk = std::make_unique<Walk>(sorted, simulation, interruption)](size_t part) {
            parts[part] = walk->run(part * chunk_size, std::min((part + 1) * chunk_size, count));
        };
    });
    return parts;
}

}  // namespace

KeptBranches kept_branches(const Plan& plan, const Kernels& kernels, const std::vector<uint64_t>& signatures, size_t count,
                           uint32_t num_threads, const std::function<void()>& interrupted) {
    const uint32_t output_words = plan.layout.output_words;
    const std::vector<Part> parts = simulate_all(plan, kernels, signatures, count, num_threads, interrupted);
    KeptBranches found;
    found.starts.assign(count + 1, 0);
    for (const Part& part : parts)
        for (const Part::Entry& entry : part.entries) ++found.starts[entry.signature + 1];
    std::partial_sum(found.starts.begin(), found.starts.end(), found.starts.begin());
    std::vector<uint64_t> at(found.starts.begin(), found.starts.end() - 1);
    found.probabilities.resize(found.starts.back());
    found.outputs.resize(found.starts.back() * output_words);
    const auto num_values = static_cast<size_t>(std::ranges::count(plan.operations, Kind::expect, &Operation::kind));
    found.values.resize(found.starts.back() * num_values);
    for (const Part& part : parts)
        for (size_t k = 0; k < part.entries.size(); ++k) {
            const uint64_t place = at[part.entries[k].signature]++;
            found.probabilities[place] = part.entries[k].probability;
            std::copy_n(part.outputs.data() + k * output_words, output_words, found.outputs.data() + place * output_words);
            std::copy_n(part.values.data() + k * num_values, num_values, found.values.data() + place * num_values);
        }
    return found;
}

}  // namespace snc
