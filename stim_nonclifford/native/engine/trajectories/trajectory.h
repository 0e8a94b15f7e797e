// Follows one shot after the other. Included by trajectories_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/resource_limit.h"
#include "engine/trajectories/generalized_stabilizer_state.h"
#include "engine/trajectories/trajectory_runner.h"
#include "kernels/shared/philox.h"

namespace snc::SNC_ISA {

// The words of a random stream of a shot, one after the other.
class WordStream {
   public:
    WordStream(uint64_t seed, Stream stream, uint64_t shot) : seed_(seed), stream_(stream), shot_(shot) {}
    uint64_t next() {
        if (taken_ % words_per_draw == 0) words_ = random_words(seed_, stream_, shot_, taken_ / words_per_draw);
        return words_[taken_++ % words_per_draw];
    }
    double next_uniform() { return uniform(next()); }
    // Above 0, for logarithms.
    double next_positive() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }

   private:
    uint64_t seed_;
    Stream stream_;
    uint64_t shot_, taken_ = 0;
    DrawnWords words_{};
};

template <size_t W>
class Trajectory final : public TrajectoryRunner {
   public:
    Trajectory(const TrajectoryProgram& program, const CoefficientKernels& kernels, uint32_t max_width)
        : program_(program),
          max_width_(max_width),
          state_(program.num_qubits, kernels),
          records_(program.num_records),
          outputs_(program.num_outputs),
          values_(program.num_expectations, std::numeric_limits<double>::quiet_NaN()),
          chosen_(program.chains.size(), not_chosen),
          drawn_(program.turns.num_variables()),
          is_idle_(program.places.size()),
          leakage_(program.num_qubits) {
        store_checkpoints();
    }

    void run(uint64_t seed, uint64_t first_shot, uint64_t shots, Interruption& interruption, TrajectoryShots& kept) override {
        seed_ = seed;
        const size_t row_bytes = (program_.outputs.reported.size() + 7) / 8;
        for (shot_ = first_shot; shot_ < first_shot + shots; ++shot_) {
            if (shot_ % shots_between_looks == 0) interruption.look();
            ++work_.shots;
            if (!follow()) continue;
            kept.shots.push_back(static_cast<int64_t>(shot_));
            kept.values.insert(kept.values.end(), values_.begin(), values_.end());
            const size_t begin = kept.rows.size();
            kept.rows.resize(begin + row_bytes);
            for (size_t k = 0; k < program_.outputs.reported.size(); ++k)
                kept.rows[begin + k / 8] |= static_cast<uint8_t>(output(program_.outputs.reported[k]) << (k % 8));
        }
    }
    std::vector<uint8_t> likely_outputs() override {
        is_likely_ = true;
        std::ranges::fill(chosen_, not_chosen);
        begin_at(0);
        run_steps<false>(static_cast<uint32_t>(program_.steps.size()));
        is_likely_ = false;
        std::vector<uint8_t> found(program_.num_outputs);
        for (uint32_t k = 0; k < program_.num_outputs; ++k) found[k] = output(k);
        return found;
    }
    const TrajectoryWork& work() const override { return work_; }

   private:
    using State = GeneralizedStabilizerState<W>;
    using Row = typename State::Row;
    static constexpr uint32_t not_chosen = UINT32_MAX;
    static constexpr uint64_t shots_between_looks = 64;
    static constexpr double tie_tolerance = 1e-9;
    static constexpr uint32_t max_checkpoint_width = 12;
    static constexpr size_t max_flip_words = size_t{1} << 22;  // of all checkpoints
    enum Leakage : uint8_t { computational, leaked, lost };

    struct Event {
        uint32_t place;
        uint64_t pattern;  // of Paulis; the kind of a relaxation; the error of a chain
    };
    // A place on the path without noise, all of whose coins are 0.
    struct Checkpoint {
        uint32_t step;
        State state;
        std::vector<uint8_t> records, outputs;
        std::vector<double> values;
        uint32_t num_coins;               // before it
        std::vector<uint64_t> coin_flips;  // [num_coins][flip_words()]: what a coin flips here if it is 1
    };

    bool output(uint32_t number) const {
        return (program_.outputs.by_records ? records_[number] ^ program_.outputs.constant[number] : outputs_[number]) != 0;
    }

    // Whether the shot is kept.
    bool follow() {
        draw_events();
        // The first events may happen to qubits that do not matter on the path. Without them, cultivation of d=3 with relaxation takes 3/4
        // of the time.
        const auto first = std::ranges::find_if(events_, [&](const Event& event) { return !is_idle_[event.place]; });
        if (first == events_.end() && path_end_ != nullptr) return end_on_path();
        begin_at(first == events_.end() ? static_cast<uint32_t>(program_.steps.size()) : program_.places[first->place].step);
        for (const Event& event : std::span(first, events_.end())) {
            const NoisePlace& place = program_.places[event.place];
            if (!run_steps<false>(place.step)) return false;
            if (step_ == place.step) happen(place, event.pattern);  // else it is in a block that is not executed
        }
        return run_steps<false>(static_cast<uint32_t>(program_.steps.size())) && passes();
    }
    bool passes() const {
        return std::ranges::none_of(program_.outputs.postselected, [&](uint32_t number) { return output(number); });
    }
    // The same for a shot that stays on the path without noise, on which no coin changes an output. Most shots of a surface code of d=3
    // with relaxation are such.
    bool end_on_path() {
        work_.skipped_steps += path_end_->step;
        if (!path_passes_) return false;
        outputs_ = path_end_->outputs;
        values_ = path_end_->values;
        return true;
    }

    // Goes on from a checkpoint.
    void take_up(const Checkpoint& checkpoint) {
        state_.copy(checkpoint.state);
        records_ = checkpoint.records;
        outputs_ = checkpoint.outputs;
        values_ = checkpoint.values;
        step_ = checkpoint.step;
    }

    // Goes back to the last checkpoint that is not after a step.
    void begin_at(uint32_t step) {
        const auto after = std::ranges::upper_bound(checkpoints_, step, {}, &Checkpoint::step);
        const Checkpoint& checkpoint = *(after - 1);
        take_up(checkpoint);
        work_.skipped_steps += step_;
        coin_words_ = UINT64_MAX;
        if (checkpoint.num_coins != 0) toss_coins(checkpoint);
        if (!program_.has_leakage) return;
        std::ranges::fill(leakage_, computational);
        num_leaked_ = 0;
        leakage_words_ = WordStream(seed_, Stream::trajectory_leakage, shot_);
    }

    // Bits of what a coin flips: signs of rows, then records, then outputs, each from a word of their own on.
    size_t sign_words() const { return words_for(2 * program_.num_qubits); }
    size_t first_output_word() const { return sign_words() + words_for(program_.num_records); }
    size_t flip_words() const { return first_output_word() + words_for(program_.num_outputs); }

    // Flips what the coins before a checkpoint flip.
    void toss_coins(const Checkpoint& checkpoint) {
        const size_t words = flip_words();
        flips_.assign(words, 0);
        for (uint32_t k = 0; k < checkpoint.num_coins; ++k) {
            if (!coin(path_coins_[k])) continue;
            const uint64_t* const flips = checkpoint.coin_flips.data() + k * words;
            for (size_t w = 0; w < words; ++w) flips_[w] ^= flips[w];
        }
        const auto for_each_bit = [&](size_t first, size_t end, auto use) {
            for (size_t w = first; w < end; ++w)
                for (uint64_t bits = flips_[w]; bits != 0; bits &= bits - 1) use(64 * (w - first) + static_cast<size_t>(std::countr_zero(bits)));
        };
        for_each_bit(0, sign_words(), [&](size_t row) { state_.flip_sign(static_cast<uint32_t>(row)); });
        for_each_bit(sign_words(), first_output_word(), [&](size_t record) { records_[record] ^= 1; });
        for_each_bit(first_output_word(), words, [&](size_t number) { outputs_[number] ^= 1; });
    }

    // A checkpoint now and then on the path without noise, as long as its outcomes are certain or coins. Coins change signs, records and
    // outputs, each by itself; checkpoints end where one of them changes anything else.
    void store_checkpoints() {
        is_path_ = true;
        store_path();
        for (uint32_t k = 0; k < path_coins_.size(); ++k) store_flips_of_coin(k);
        is_path_ = false;
        for (size_t k = 0; k < is_idle_.size(); ++k) is_idle_[k] &= program_.places[k].step <= checkpoints_.back().step;
        store_end();
    }

    void store_end() {
        const Checkpoint& last = checkpoints_.back();
        if (last.step != program_.steps.size() || program_.outputs.by_records) return;
        const size_t words = flip_words();
        for (size_t k = 0; k < last.coin_flips.size(); ++k)
            if (k % words >= first_output_word() && last.coin_flips[k] != 0) return;
        path_end_ = &last;
        take_up(last);
        path_passes_ = passes();
    }

    void store_path() {
        constexpr uint32_t most = 256;
        const auto size = static_cast<uint32_t>(program_.steps.size());
        const uint32_t distance = std::max(uint32_t{1}, size / most);
        size_t num_words = 0, place = 0;
        const auto run_to = [&](uint32_t end) {
            for (; place < program_.places.size() && program_.places[place].step <= end; ++place) {
                const NoisePlace& each = program_.places[place];
                if (!run_steps<true>(each.step)) return false;
                is_idle_[place] = each.precedes_reset && step_ == each.step && state_.is_product(program_.targets[each.first]);
            }
            return run_steps<true>(end);
        };
        state_.reset();
        // Detectors that are not executed do not fire.
        if (!program_.outputs.by_records) std::copy(program_.outputs.constant.begin() + program_.num_detectors, program_.outputs.constant.end(),
                                                    outputs_.begin() + program_.num_detectors);
        step_ = 0;
        try {
            do {
                const auto num_coins = static_cast<uint32_t>(path_coins_.size());
                checkpoints_.push_back({step_, state_, records_, outputs_, values_, num_coins, {}});
                checkpoints_.back().coin_flips.resize(num_coins * flip_words());
                num_words += checkpoints_.back().coin_flips.size();
            } while (step_ < size && state_.width() <= max_checkpoint_width && num_words <= max_flip_words &&
                     run_to(std::min(size, step_ + distance)));
        } catch (const ResourceLimit&) {
            // The path is too wide. The first shot says so.
        }
    }

    // Follows the path on which coin k alone is 1, from the last checkpoint before it.
    void store_flips_of_coin(uint32_t k) {
        auto next = std::ranges::upper_bound(checkpoints_, k, {}, &Checkpoint::num_coins);
        if (next == checkpoints_.end()) return;
        take_up(*(next - 1));
        forced_coin_ = path_coins_[k];
        const auto note = [](const std::vector<uint8_t>& now, const std::vector<uint8_t>& without, uint64_t* flips) {
            for (size_t b = 0; b < now.size(); ++b) flips[b / 64] |= uint64_t{now[b] != without[b]} << (b % 64);
        };
        for (; next != checkpoints_.end(); ++next) {
            uint64_t* const flips = next->coin_flips.data() + k * flip_words();
            const bool same_values = values_.empty() || std::memcmp(values_.data(), next->values.data(), values_.size() * sizeof(double)) == 0;
            if (!run_steps<true>(next->step) || !state_.differs_in_signs(next->state, flips) || !same_values) {
                checkpoints_.erase(next, checkpoints_.end());
                break;
            }
            note(records_, next->records, flips + sign_words());
            note(outputs_, next->outputs, flips + first_output_word());
        }
        forced_coin_ = UINT32_MAX;
    }

    void draw_events() {
        events_.clear();
        std::ranges::fill(chosen_, not_chosen);
        WordStream words(seed_, Stream::trajectory_structure, shot_);
        for (const NoiseClass& each : program_.structural) draw_events(each, words);
        work_.structural_events += events_.size();
        if (!program_.pauli.empty()) {
            const size_t before = events_.size();
            words = WordStream(seed_, Stream::trajectory_paulis, shot_);
            for (const NoiseClass& each : program_.pauli) draw_events(each, words);
            work_.pauli_events += events_.size() - before;
        }
        std::ranges::sort(events_, {}, &Event::place);
    }

    // The gaps between candidates of a class have a geometric distribution.
    void draw_events(const NoiseClass& each, WordStream& words) {
        const auto size = static_cast<double>(each.places.size());
        for (double k = -1;;) {
            k += 1 + std::floor(std::log(words.next_positive()) / each.log_of_nothing);
            if (!(k < size)) return;
            const uint32_t number = each.places[static_cast<size_t>(k)];
            const NoisePlace& place = program_.places[number];
            if (place.probability < each.probability && words.next_uniform() * each.probability >= place.probability) continue;
            events_.push_back({number, pattern_of(place, words)});
        }
    }

    // What happens at a place, given that something does.
    uint64_t pattern_of(const NoisePlace& place, WordStream& words) {
        const auto chosen = [&](const auto& probability_of, size_t count) {
            double left = words.next_uniform() * place.probability;
            size_t k = 0;
            while (k + 1 < count && left >= probability_of(k)) left -= probability_of(k++);
            return k;
        };
        switch (place.kind) {
            case NoiseKind::paulis: {
                const EventTable& table = program_.channels[place.number];
                const auto any = [&] {
                    const auto found = std::ranges::upper_bound(table.sums, words.next_uniform());
                    return table.patterns[std::min<size_t>(static_cast<size_t>(found - table.sums.begin()), table.patterns.size() - 1)];
                };
                uint64_t pattern = any();
                if (table.rate == 0) return pattern;
                // The number of events is one or more: a Poisson distribution without its zero.
                double left = words.next_uniform() * std::expm1(table.rate) - table.rate, term = table.rate;
                for (int count = 2; left >= 0; ++count) {
                    pattern ^= any();
                    term *= table.rate / count;
                    left -= term;
                }
                return pattern;
            }
            case NoiseKind::chain: {
                const auto& chain = program_.chains[place.number];
                return chosen([&](size_t k) { return chain[k].second; }, chain.size());
            }
            case NoiseKind::relaxation:
                return chosen([&](size_t k) { return place.weights[k]; }, place.weights.size());
            default:
                return 0;
        }
    }

    void apply_pattern(const uint32_t* targets, uint32_t size, uint64_t pattern, int64_t herald) {
        for (uint32_t k = 0; k < size; ++k) state_.apply_pauli(targets[k], pattern >> (2 * k) & 3);
        if (herald >= 0) records_[static_cast<size_t>(herald)] ^= static_cast<uint8_t>(pattern >> (2 * size) & 1);
    }

    void happen(const NoisePlace& place, uint64_t pattern) {
        const uint32_t* const targets = program_.targets.data() + place.first;
        switch (place.kind) {
            case NoiseKind::paulis:
                apply_pattern(targets, place.size, pattern, place.herald);
                break;
            case NoiseKind::readout:
                records_[place.number] ^= 1;
                break;
            case NoiseKind::misread: {
                const bool outcome = (records_[place.number] != 0) != place.is_inverted;
                records_[place.number] ^= static_cast<uint8_t>(uniform_of(place.decision) < place.weights[outcome]);
                break;
            }
            case NoiseKind::chain:
                chosen_[place.number] = static_cast<uint32_t>(pattern);
                break;
            case NoiseKind::relaxation:
                relax(targets[0], place, pattern);
                break;
            case NoiseKind::leaking:
                if (leakage_[targets[0]] == computational || (place.is_loss && leakage_[targets[0]] == leaked)) {
                    leak(targets[0], place.is_loss ? lost : leaked);
                    mix(targets[0]);
                }
                break;
            case NoiseKind::leaking_from_ones:
                leak_from_ones(targets, place);
                break;
        }
    }

    // Looks at the qubits. If all of them are 1, the first one leaks, and the other one is 0 afterwards.
    void leak_from_ones(const uint32_t* qubits, const NoisePlace& place) {
        for (uint32_t k = 0; k < place.size; ++k)
            if (leakage_[qubits[k]] != computational) return;
        bool are_ones = true;
        for (uint32_t k = 0; k < place.size; ++k) {
            const QubitPauli z{qubits[k], z_part};
            are_ones &= measured(state_.pull_back({&z, 1}), place.decision + k);
        }
        if (!are_ones) return;
        for (uint32_t k = 1; k < place.size; ++k) state_.apply_pauli(qubits[k], x_part);
        leak(qubits[0], leaked);
        mix(qubits[0]);
    }

    // The angle of a turn in this shot, in half-turns.
    double angle_of(uint32_t turn) {
        const TurnTables& turns = program_.turns;
        const uint32_t variable = turns.variables[turn];
        const double* const angles = turns.angles.data() + turns.first_angles[turn];
        Drawn& drawn = drawn_[variable];
        if (drawn.shot != shot_ + 1) {
            drawn.shot = shot_ + 1;
            const uint32_t decision = program_.first_turn_decision + 2 * variable;
            const double first = uniform_of(decision);
            if (turns.is_gaussian(variable)) {  // Box and Muller
                drawn.value = std::sqrt(-2 * std::log1p(-first)) * std::cos(2 * std::numbers::pi * uniform_of(decision + 1));
            } else {
                const auto begin = turns.sums.begin() + turns.first_sums[variable], end = turns.sums.begin() + turns.first_sums[variable + 1];
                drawn.number = static_cast<size_t>(std::min(std::upper_bound(begin, end, first), end - 1) - begin);
            }
        }
        return turns.is_gaussian(variable) ? angles[0] * drawn.value : angles[drawn.number];
    }

    void turn(const TrajectoryStep& step, Factors factors) {
        if (num_leaked_ != 0 && leakage_[factors[0].qubit] != computational) return;
        const double half_turns = angle_of(step.number);
        const double doubled = 2 * half_turns, parity = std::fmod(std::abs(doubled), 4);
        if (parity == 0) return;
        if (parity == 2) return state_.apply_pauli(factors[0].qubit, factors[0].code);
        const double angle = std::numbers::pi / 2 * half_turns;
        if (state_.rotate(state_.pull_back(factors), std::cos(angle), std::sin(angle))) check_width();
    }

    void relax(uint32_t qubit, const NoisePlace& place, uint64_t kind) {
        if (kind == 1) return state_.apply_pauli(qubit, z_part);
        const QubitPauli z{qubit, z_part};
        const Row row = state_.pull_back({&z, 1});
        if (kind == 0) {
            if (measured(row, place.decision)) state_.apply_pauli(qubit, x_part);
            return;
        }
        const auto one = state_.probability_of_one(row);
        const double g = place.amplitude, jump = (1 - g * g) * one.value_or(0.5);
        if (uniform_of(place.decision) < jump) {
            state_.project(row, true, one);
            state_.apply_pauli(qubit, x_part);
            return;
        }
        const double scale = 1 / std::sqrt(1 - jump);
        if (state_.combine(row, scale * (1 + g) / 2, scale * (1 - g) / 2)) check_width();
    }

    void accept(const Attempt& attempt) {
        const auto move = [](auto& values, const Attempt::Range& range, auto nothing) {
            const auto at = [&](uint32_t k) { return values.begin() + k; };
            if (range.end == range.last) return;
            std::move_backward(at(range.first), at(range.end), at(range.last));
            std::fill(at(range.first), at(range.first + range.last - range.end), nothing);
        };
        move(records_, attempt.records, uint8_t{0});
        move(values_, attempt.expectations, std::numeric_limits<double>::quiet_NaN());
        if (program_.outputs.by_records) return;
        const auto& [first, end, last] = attempt.detectors;
        move(outputs_, attempt.detectors, uint8_t{0});
        if (is_likely_)
            for (uint32_t k = first + last - end; k-- > first;) outputs_[k] = outputs_[k + attempt.num_detectors];
    }

    void check_width() {
        work_.largest_width = std::max<uint64_t>(work_.largest_width, state_.width());
        if (state_.width() > max_width_) {
            const uint32_t line = program_.steps[std::min<size_t>(step_, program_.steps.size() - 1)].line;
            throw ResourceLimit("Shot " + std::to_string(shot_) + " needs " + std::to_string(state_.width()) +
                                " active coordinates at line " + std::to_string(line) + "; the limit is max_active_coordinates=" +
                                std::to_string(max_width_) + ". Raise it if the memory allows (2^" + std::to_string(state_.width()) +
                                " coefficients of 16 bytes), or make the noise weaker that resets qubits.");
        }
    }

    bool measured(const Row& row, uint32_t decision) {
        const auto one = state_.probability_of_one(row);
        const bool outcome = one ? decided(*one, decision) : coin(decision);
        state_.project(row, outcome, one);
        return outcome;
    }
    bool decided(double probability, uint32_t decision) const {
        if (probability == 0 || probability == 1) return probability == 1;
        if (is_likely_) return probability > 0.5 + tie_tolerance;
        return uniform_of(decision) < probability;
    }
    double uniform_of(uint32_t decision) const { return uniform(random_word(seed_, Stream::trajectory_outcomes, shot_, decision)); }
    bool coin(uint32_t decision) {
        if (is_likely_) return false;
        if (is_path_) return decision == forced_coin_;
        const uint64_t quad = decision / (64 * words_per_draw);
        if (quad != coin_words_) {
            coins_ = random_words(seed_, Stream::trajectory_coins, shot_, quad);
            coin_words_ = quad;
        }
        return (coins_[decision / 64 % words_per_draw] >> (decision % 64) & 1) != 0;
    }

    // Ends a reset, after its measurement.
    void reset(uint32_t qubit, uint32_t code, bool outcome) {
        if (outcome) state_.apply_pauli(qubit, code == z_part ? x_part : z_part);
        if (num_leaked_ == 0 || leakage_[qubit] == computational) return;
        if (leakage_[qubit] == leaked || leakage_words_.next_uniform() < program_.leakage.replacements[qubit]) leak(qubit, computational);
    }

    void leak(uint32_t qubit, Leakage to) {
        num_leaked_ += (to != computational) - (leakage_[qubit] != computational);
        leakage_[qubit] = to;
    }
    void mix(uint32_t qubit) { state_.apply_pauli(qubit, leakage_words_.next() >> 62); }

    void meet(const uint32_t* qubits, size_t size) {
        for (size_t k = 0; k < size; ++k) {
            if (leakage_[qubits[k]] == computational) continue;
            const double* const paulis = program_.leakage.paulis.data() + 3 * size_t{qubits[k]};
            mix(qubits[k]);
            for (size_t j = 0; j < size; ++j) {
                if (j == k) continue;
                if (paulis[0] < 0) {
                    mix(qubits[j]);
                    continue;
                }
                double left = leakage_words_.next_uniform();
                for (const auto& [code, number] : {std::pair{x_part, 0}, std::pair{y_code, 1}, std::pair{z_part, 2}}) {
                    if (left >= 0 && left < paulis[number]) state_.apply_pauli(qubits[j], code);
                    left -= paulis[number];
                }
            }
        }
    }

    // What leakage does at a step, if any qubit is leaked or lost.
    void follow_leakage(const TrajectoryStep& step) {
        const uint32_t* const qubits = program_.targets.data() + step.first;
        const auto happens = [&] { return leakage_words_.next_uniform() < step.first_value; };
        switch (step.kind) {
            case TrajectoryStepKind::leakage_return:
                if (leakage_[qubits[0]] != leaked || !happens()) break;
                leak(qubits[0], computational);
                if (step.flag) {
                    const QubitPauli z{qubits[0], z_part};
                    if (!measured(state_.pull_back({&z, 1}), step.decision)) state_.apply_pauli(qubits[0], x_part);
                }
                break;
            case TrajectoryStepKind::leakage_spread:
                if (leakage_[qubits[0]] != leaked || leakage_[qubits[1]] != computational || !happens()) break;
                leak(qubits[1], leaked);
                mix(qubits[1]);
                if (step.flag) leak(qubits[0], computational);
                break;
            case TrajectoryStepKind::leakage_herald:
                if (leakage_[qubits[0]] == (step.flag ? lost : leaked) && happens()) records_[step.number] ^= 1;
                break;
            case TrajectoryStepKind::leaked_flip:
                if (leakage_[qubits[0]] != computational && happens()) state_.apply_pauli(qubits[1], x_part);
                break;
            default:
                meet(qubits, step.end - step.first);
        }
    }

    // Follows the steps before number `end`. With `certain_only`, it ends before the first one that needs a random number. Returns
    // whether it has come to the end: otherwise the shot is discarded, or needs such a number.
    template <bool certain_only>
    bool run_steps(uint32_t end) {
        for (; step_ < end; ++step_) {
            const TrajectoryStep& step = program_.steps[step_];
            const Factors factors{program_.factors.data() + step.first, step.end - step.first};
            ++work_.steps;
            switch (step.kind) {
                case TrajectoryStepKind::gate:
                    state_.apply(program_.gates[step.number], program_.targets.data() + step.first, program_.targets.data() + step.end);
                    break;
                case TrajectoryStepKind::rotate:
                    if (state_.rotate(state_.pull_back(factors), step.first_value, step.second_value)) check_width();
                    break;
                case TrajectoryStepKind::turn:
                    if constexpr (certain_only) return false;
                    if (!is_likely_) turn(step, factors);
                    break;
                case TrajectoryStepKind::measure:
                case TrajectoryStepKind::reset: {
                    const bool is_measured = step.kind == TrajectoryStepKind::measure;
                    const Row row = state_.pull_back(factors);
                    if constexpr (certain_only) {
                        const auto one = state_.probability_of_one(row);
                        const bool is_certain = one && (*one == 0 || *one == 1);
                        // A reset gives the same state for both outcomes if nothing else depends on them.
                        const bool matters = !is_certain && (is_measured || !state_.is_product(factors[0].qubit));
                        if (matters && one) return false;
                        if (matters && forced_coin_ == UINT32_MAX) path_coins_.push_back(step.decision);
                    }
                    const bool outcome = measured(row, step.decision);
                    if (is_measured) records_[step.number] = static_cast<uint8_t>(outcome != step.flag);
                    if (!is_measured || step.resets) reset(factors[0].qubit, factors[0].code, outcome);
                    break;
                }
                case TrajectoryStepKind::feedback:
                    if (records_[step.number] != 0) state_.apply_pauli(factors[0].qubit, factors[0].code);
                    break;
                case TrajectoryStepKind::paulis:
                    if (is_likely_) break;
                    apply_pattern(program_.targets.data() + step.first, step.end - step.first, step.pattern,
                                  step.number == UINT32_MAX ? -1 : int64_t{step.number});
                    break;
                case TrajectoryStepKind::correlated_error:
                    if (chosen_[step.chain] == step.number)
                        for (const auto& [qubit, code] : factors) state_.apply_pauli(qubit, code);
                    break;
                case TrajectoryStepKind::detector: {
                    uint8_t parity = program_.outputs.constant[step.number];
                    for (uint32_t k = step.first; k < step.end; ++k) parity ^= records_[program_.records[k]];
                    outputs_[step.number] = parity;
                    // Detectors of attempts may still move.
                    if (!certain_only && parity != 0 && !step.flag && program_.is_postselected[step.number] != 0) return false;
                    break;
                }
                case TrajectoryStepKind::observable:
                    for (uint32_t k = step.first; k < step.end; ++k) outputs_[step.number] ^= records_[program_.records[k]];
                    break;
                case TrajectoryStepKind::skip: {
                    if (certain_only && !path_coins_.empty()) return false;
                    bool is_odd = false;
                    for (uint32_t k = step.first; k < step.end; ++k) is_odd ^= records_[program_.records[k]] != 0;
                    if (is_odd == step.flag) step_ = step.chain - 1;
                    break;
                }
                case TrajectoryStepKind::absence:
                    if (num_leaked_ == 0) break;
                    for (uint32_t k = step.first; k < step.end; ++k)
                        if (leakage_[program_.targets[k]] != computational) step_ = step.chain - 1;
                    break;
                case TrajectoryStepKind::accept:
                    accept(program_.attempts[step.number]);
                    step_ = step.chain - 1;
                    break;
                case TrajectoryStepKind::end_block:
                    break;
                case TrajectoryStepKind::expectation: {
                    const auto one = state_.probability_of_one(state_.pull_back(factors));
                    const double value = one ? 1 - 2 * *one : 0;
                    values_[step.number] = step.flag && value != 0 ? -value : value;
                    break;
                }
                default:
                    if (num_leaked_ != 0) follow_leakage(step);
            }
        }
        return true;
    }

    const TrajectoryProgram& program_;
    const uint32_t max_width_;
    State state_;
    std::vector<uint8_t> records_, outputs_;
    std::vector<double> values_;
    std::vector<uint32_t> chosen_;  // for each chain, the number of the error that happens
    struct Drawn {
        uint64_t shot = 0;  // for which it was drawn, plus 1
        double value = 0;
        size_t number = 0;
    };
    std::vector<Drawn> drawn_;  // for each variable of turns
    std::vector<Event> events_;
    std::vector<Checkpoint> checkpoints_;
    const Checkpoint* path_end_ = nullptr;   // at the end of the circuit, if all shots that stay on the path have the same outputs
    bool path_passes_ = false;
    std::vector<uint8_t> is_idle_;           // for each place, whether its events change no later outcome on the path
    std::vector<uint32_t> path_coins_;       // the decisions that are coins, up to the last checkpoint and somewhat beyond
    std::vector<uint64_t> flips_;            // of the coins before a checkpoint
    bool is_path_ = false;                   // the path of the checkpoints
    uint32_t forced_coin_ = UINT32_MAX;      // the decision that is 1 on it
    uint64_t seed_ = 0, shot_ = 0;
    uint32_t step_ = 0;
    bool is_likely_ = false;  // the shot of likely_outputs
    DrawnWords coins_{};
    uint64_t coin_words_ = UINT64_MAX;  // the draw that coins_ has
    std::vector<Leakage> leakage_;
    uint32_t num_leaked_ = 0;
    WordStream leakage_words_{0, Stream::trajectory_leakage, 0};
    TrajectoryWork work_;
};

}  // namespace snc::SNC_ISA
