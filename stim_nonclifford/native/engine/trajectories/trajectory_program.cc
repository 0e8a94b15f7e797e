#include "engine/trajectories/trajectory_program.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/argument_checks.h"
#include "base/resource_limit.h"

namespace snc {

namespace {

constexpr size_t max_steps = size_t{1} << 24;

// Places whose probabilities differ by less than this factor are a class. With 4, up to 3/4 of the candidates would be in vain; with
// 1.4, a calibration table with many different values would have twice as many classes.
constexpr double class_range = 2;

std::vector<RowImage> images_of(const GateTables& gate) {
    std::vector<RowImage> images;
    for (uint32_t row = 0; row < gate.inverse.size(); ++row) {
        const GeneratorImage& image = gate.inverse[row];
        RowImage found{row, {}, image.is_negative ? 2U : 0U};
        for (const auto& [target, code] : image.factors) {
            if ((code & x_part) != 0) found.factors.push_back(2 * target);
            if ((code & z_part) != 0) found.factors.push_back(2 * target + 1);
            if (code == y_code) ++found.i_power;
        }
        if (found.i_power != 0 || found.factors != std::vector{row}) images.push_back(std::move(found));
    }
    return images;
}

// Each image is its own row, times others that do not change; or nothing, if it is not.
std::vector<GateRows::Factor> factors_of(const std::vector<RowImage>& images) {
    const auto changes = [&](uint32_t row) { return std::ranges::any_of(images, [row](const RowImage& each) { return each.row == row; }); };
    std::vector<GateRows::Factor> found;
    for (const RowImage& image : images) {
        bool has_own = false;
        uint32_t i_power = image.i_power;
        const size_t first = found.size();
        for (const uint32_t row : image.factors) {
            if (row == image.row) {
                if (std::exchange(has_own, true)) return {};
                continue;
            }
            if (changes(row)) return {};
            found.push_back({image.row, row, 0});
        }
        if (!has_own) return {};
        // Factors before the own row move behind it. Two rows of the same qubit anticommute.
        const auto own = std::ranges::find(image.factors, image.row);
        for (auto before = image.factors.begin(); before != own; ++before) i_power += *before / 2 == image.row / 2 ? 2 : 0;
        if (found.size() == first) found.push_back({image.row, image.row, 0});
        found.back().i_power = i_power & 3;
    }
    return found;
}

GateRows rows_of(const GateTables& gate) {
    GateRows rows{static_cast<uint32_t>(gate.num_targets), images_of(gate), false, {}};
    const auto& images = rows.images;
    rows.exchanges = images.size() == 2 && images[0].i_power == 0 && images[1].i_power == 0 && images[0].factors == std::vector{images[1].row} &&
                     images[1].factors == std::vector{images[0].row};
    rows.factors = factors_of(images);
    return rows;
}

EventTable table_of(std::span<const ChannelChoice> choices, bool are_exclusive) {
    EventTable table{{}, {}, 0};
    double sum = 0;
    for (const auto& [pattern, amount] : choices) {
        table.patterns.push_back(pattern);
        table.sums.push_back(sum += amount);
    }
    if (!are_exclusive) table.rate = sum;
    for (double& each : table.sums) each /= sum;
    return table;
}

}  // namespace

void TurnTables::check() const {
    const auto are_ascending = [](const std::vector<uint32_t>& firsts, size_t size) {
        return !firsts.empty() && firsts.front() == 0 && firsts.back() == size && std::ranges::is_sorted(firsts);
    };
    require(are_ascending(first_angles, angles.size()) && are_ascending(first_sums, sums.size()) && first_angles.size() == variables.size() + 1,
            "The angles of turns must be parts of all angles.");
    require_range(variables, 0, num_variables(), "Variables");
    for (size_t turn = 0; turn < variables.size(); ++turn) {
        const uint32_t variable = variables[turn], size = first_angles[turn + 1] - first_angles[turn];
        require(size == (is_gaussian(variable) ? 1 : first_sums[variable + 1] - first_sums[variable]), "There must be an angle for each weight.");
    }
    for (const double angle : angles) require(std::isfinite(angle), "Angles must be finite.");
}

TrajectoryProgram::TrajectoryProgram(const Program& program, TrajectoryOutputs wanted, LeakagePartners models, TurnTables tables,
                                     std::span<const int32_t> lines)
    : num_qubits(static_cast<uint32_t>(program.num_qubits)),
      num_records(static_cast<uint32_t>(program.num_records)),
      num_detectors(static_cast<uint32_t>(program.num_detectors)),
      num_outputs(wanted.by_records ? num_records : num_detectors + static_cast<uint32_t>(program.num_observables)),
      outputs(std::move(wanted)),
      is_postselected(num_outputs),
      leakage(std::move(models)),
      turns(std::move(tables)) {
    turns.check();
    if (program.size() > max_steps)
        throw ResourceLimit("The circuit has " + with_commas(program.size()) + " operations with loops unrolled; an engine that follows each shot"
                            " takes at most " + with_commas(max_steps) + ". Lower the repeat counts, or choose engine='cpu'.");
    require(outputs.constant.size() == num_outputs, "There must be a constant for each output.");
    require_range(outputs.reported, 0, num_outputs, "Reported outputs");
    require_range(outputs.postselected, 0, num_outputs, "Postselected outputs");
    require(leakage.paulis.size() == 3 * size_t{num_qubits} && leakage.replacements.size() == num_qubits,
            "There must be a model of leakage for each qubit.");
    require(lines.size() == program.num_stored_steps(), "There must be a line for each stored step.");
    for (const uint32_t output : outputs.postselected) is_postselected[output] = 1;
    for (size_t k = 0; k < program.num_gates(); ++k) gates.push_back(rows_of(program.gate(k)));
    program.forward([&](const CircuitStep& step, int64_t, const Shift& shift) {
        add(program, step, shift, static_cast<uint32_t>(lines[program.stored_number(step)]));
    });
    require(open_blocks_.empty(), "Each block must end.");
    for (size_t chain = 0; chain < chains.size(); ++chain) {
        double sum = 0;
        for (const auto& [step, probability] : chains[chain]) sum += probability;
        if (sum > 0)
            places.push_back({.kind = NoiseKind::chain, .step = chains[chain].front().first, .number = static_cast<uint32_t>(chain),
                              .probability = std::min(sum, 1.0)});
    }
    std::ranges::stable_sort(places, {}, &NoisePlace::step);
    for (NoisePlace& place : places) {
        if (place.kind == NoiseKind::misread) continue;  // it has the number of its record
        place.decision = num_decisions;
        num_decisions += place.kind == NoiseKind::leaking_from_ones ? place.size : 1;
    }
    first_turn_decision = num_decisions;
    num_decisions += 2 * static_cast<uint32_t>(turns.num_variables());
    note_resets();
    add_classes();
}

TrajectoryStep& TrajectoryProgram::add_step(TrajectoryStepKind kind, uint32_t line) {
    TrajectoryStep step{};
    step.kind = kind;
    step.line = line;
    step.decision = num_decisions;
    return steps.emplace_back(step);
}

void TrajectoryProgram::add(const Program& program, const CircuitStep& step, const Shift& shift, uint32_t line) {
    using Kind = CircuitStepKind;
    const auto record = static_cast<uint32_t>(step.record + shift.records);
    const auto with_factors = [&](TrajectoryStep& added) {
        added.first = static_cast<uint32_t>(factors.size());
        factors.insert(factors.end(), program.factors(step).begin(), program.factors(step).end());
        added.end = static_cast<uint32_t>(factors.size());
    };
    const auto with_targets = [&](TrajectoryStep& added, std::span<const uint32_t> group) {
        added.first = static_cast<uint32_t>(targets.size());
        targets.insert(targets.end(), group.begin(), group.end());
        added.end = static_cast<uint32_t>(targets.size());
    };
    const auto with_records = [&](TrajectoryStep& added) {
        added.first = static_cast<uint32_t>(records.size());
        for (const int64_t each : program.records(step)) records.push_back(static_cast<uint32_t>(each + shift.records));
        added.end = static_cast<uint32_t>(records.size());
    };
    const auto qubits = program.targets(step);
    switch (step.kind) {
        case Kind::clifford: {
            if (gates[static_cast<size_t>(step.number)].images.empty()) break;
            TrajectoryStep& added = add_step(TrajectoryStepKind::gate, line);
            added.number = static_cast<uint32_t>(step.number);
            with_targets(added, qubits);
            break;
        }
        case Kind::rotate: {
            TrajectoryStep& added = add_step(TrajectoryStepKind::rotate, line);
            added.first_value = std::cos(std::numbers::pi / 2 * step.amount);
            added.second_value = std::sin(std::numbers::pi / 2 * step.amount);
            with_factors(added);
            break;
        }
        case Kind::measure: {
            TrajectoryStep& added = add_step(TrajectoryStepKind::measure, line);
            added.number = record;
            added.flag = step.is_inverted != 0;
            added.resets = step.resets != 0;
            with_factors(added);
            ++num_decisions;
            if (step.number < 0) break;
            const ChannelTables channel = program.channel(step);
            added.flag ^= channel.constant != 0;
            double flip = 0;
            for (const auto& [pattern, rate] : channel.rates) flip += -std::expm1(-2 * rate) / 2;
            for (const auto& [pattern, probability] : channel.site) flip += probability;
            if (flip > 0)
                places.push_back({.kind = NoiseKind::readout, .step = static_cast<uint32_t>(steps.size()), .number = record,
                                  .probability = flip});
            break;
        }
        case Kind::reset:
            with_factors(add_step(TrajectoryStepKind::reset, line));
            ++num_decisions;
            break;
        case Kind::feedback: {
            TrajectoryStep& added = add_step(TrajectoryStepKind::feedback, line);
            added.number = record;
            with_factors(added);
            break;
        }
        case Kind::noise:
            add_noise(program, step, shift, line);
            break;
        case Kind::correlated_error: {
            const auto chain = static_cast<size_t>(step.number + shift.chains);
            if (chain >= chains.size()) chains.resize(chain + 1);
            TrajectoryStep& added = add_step(TrajectoryStepKind::correlated_error, line);
            added.chain = static_cast<uint32_t>(chain);
            added.number = static_cast<uint32_t>(chains[chain].size());
            with_factors(added);
            chains[chain].emplace_back(static_cast<uint32_t>(steps.size() - 1), step.amount);
            break;
        }
        case Kind::detector:
        case Kind::observable: {
            if (outputs.by_records) break;
            require(program.factors(step).empty(), "An observable with Pauli targets counts Pauli errors, and an engine that follows each shot"
                                                   " has none to count.");
            const bool is_detector = step.kind == Kind::detector;
            TrajectoryStep& added = add_step(is_detector ? TrajectoryStepKind::detector : TrajectoryStepKind::observable, line);
            added.number = static_cast<uint32_t>(step.number + (is_detector ? shift.detectors : static_cast<int64_t>(num_detectors)));
            added.flag = std::ranges::any_of(open_blocks_, &OpenBlock::has_attempts);
            with_records(added);
            break;
        }
        case Kind::expectation: {
            TrajectoryStep& added = add_step(TrajectoryStepKind::expectation, line);
            added.number = num_expectations++;
            added.flag = step.is_inverted != 0;
            with_factors(added);
            break;
        }
        case Kind::relaxation:
            add_relaxation(step, qubits[0]);
            break;
        case Kind::misreading: {
            const double most = std::max(step.amount, step.second_amount);
            if (most == 0) break;
            places.push_back({.kind = NoiseKind::misread, .is_inverted = step.is_inverted != 0, .step = static_cast<uint32_t>(steps.size()),
                              .number = record, .decision = num_decisions++, .probability = most,
                              .weights = {step.amount / most, step.second_amount / most, 0}});
            break;
        }
        case Kind::turn: {
            require(step.number >= 0 && static_cast<size_t>(step.number) < turns.variables.size(), "There is no such turn.");
            TrajectoryStep& added = add_step(TrajectoryStepKind::turn, line);
            added.number = static_cast<uint32_t>(step.number);
            with_factors(added);
            break;
        }
        case Kind::skip:
        case Kind::absence: {
            const bool is_skip = step.kind == Kind::skip;
            TrajectoryStep& added = add_step(is_skip ? TrajectoryStepKind::skip : TrajectoryStepKind::absence, line);
            added.flag = step.is_inverted != 0;
            if (is_skip)
                with_records(added);
            else
                with_targets(added, qubits);
            open_blocks_.push_back({false, {static_cast<uint32_t>(steps.size() - 1)}, 0, 0, 0});
            break;
        }
        case Kind::begin_attempts:
            open_blocks_.push_back({true, {}, record, static_cast<uint32_t>(step.number + shift.detectors), num_expectations});
            break;
        case Kind::accept: {
            const auto open = std::find_if(open_blocks_.rbegin(), open_blocks_.rend(), [](const OpenBlock& each) { return each.has_attempts; });
            require(open != open_blocks_.rend(), "An attempt must be in a block of attempts.");
            const auto detectors = static_cast<uint32_t>(step.number + shift.detectors);
            require(record >= open->first_record && detectors >= open->first_detector, "Attempts must follow one another.");
            TrajectoryStep& added = add_step(TrajectoryStepKind::accept, line);
            added.number = static_cast<uint32_t>(attempts.size());
            open->steps.push_back(static_cast<uint32_t>(steps.size() - 1));
            attempts.push_back({{open->first_record, record, record},
                                {open->first_detector, detectors, detectors},
                                {open->first_expectation, num_expectations, num_expectations},
                                0});
            break;
        }
        case Kind::end_block:
            end_block(line);
            break;
        case Kind::leaking:
        case Kind::leaking_from_ones: {
            has_leakage = true;
            if (step.amount == 0) break;
            const bool is_from_ones = step.kind == Kind::leaking_from_ones;
            places.push_back({.kind = is_from_ones ? NoiseKind::leaking_from_ones : NoiseKind::leaking, .is_loss = step.number > 0,
                              .step = static_cast<uint32_t>(steps.size()), .first = static_cast<uint32_t>(targets.size()),
                              .size = static_cast<uint32_t>(qubits.size()), .probability = step.amount});
            targets.insert(targets.end(), qubits.begin(), qubits.end());
            break;
        }
        case Kind::leakage_return:
        case Kind::leakage_spread:
        case Kind::leakage_herald:
        case Kind::leaked_flip:
        case Kind::meeting: {
            const auto kind = step.kind == Kind::leakage_return   ? TrajectoryStepKind::leakage_return
                              : step.kind == Kind::leakage_spread ? TrajectoryStepKind::leakage_spread
                              : step.kind == Kind::leakage_herald ? TrajectoryStepKind::leakage_herald
                              : step.kind == Kind::leaked_flip    ? TrajectoryStepKind::leaked_flip
                                                                  : TrajectoryStepKind::meeting;
            TrajectoryStep& added = add_step(kind, line);
            added.number = record;
            added.flag = step.number > 0;
            added.first_value = step.amount;
            with_targets(added, qubits);
            if (step.kind == Kind::leakage_return) ++num_decisions;
            break;
        }
    }
}

// The end is a step of its own: noise before it belongs to the block, noise behind it does not.
void TrajectoryProgram::end_block(uint32_t line) {
    require(!open_blocks_.empty(), "A block must begin before it ends.");
    const OpenBlock block = std::move(open_blocks_.back());
    open_blocks_.pop_back();
    add_step(TrajectoryStepKind::end_block, line);
    for (const uint32_t step : block.steps) {
        steps[step].chain = static_cast<uint32_t>(steps.size());
        if (!block.has_attempts) continue;
        const Attempt last = attempts[steps[block.steps.back()].number];
        Attempt& attempt = attempts[steps[step].number];
        attempt.records.last = last.records.end;
        attempt.detectors.last = last.detectors.end;
        attempt.expectations.last = last.expectations.end;
        attempt.num_detectors = (last.detectors.end - last.detectors.first) / static_cast<uint32_t>(block.steps.size());
    }
}

void TrajectoryProgram::add_noise(const Program& program, const CircuitStep& step, const Shift& shift, uint32_t line) {
    const ChannelTables channel = program.channel(step);
    const auto qubits = program.targets(step);
    const auto channel_number = static_cast<size_t>(step.number);
    const bool are_exclusive = channel.rates.empty();
    const auto choices = are_exclusive ? channel.site : channel.rates;
    if (channel_number >= channels.size()) channels.resize(channel_number + 1);
    if (channels[channel_number].patterns.empty() && !choices.empty()) channels[channel_number] = table_of(choices, are_exclusive);
    double probability = 0;
    for (const auto& choice : choices) probability += choice.amount;
    if (!are_exclusive) probability = -std::expm1(-probability);
    for (size_t k = 0; k < qubits.size(); k += step.group_size) {
        const auto first = static_cast<uint32_t>(targets.size());
        const auto group = qubits.subspan(k, step.group_size);
        targets.insert(targets.end(), group.begin(), group.end());
        const int64_t herald = step.record < 0 ? -1 : step.record + shift.records + static_cast<int64_t>(k / step.group_size);
        if (channel.constant != 0) {
            TrajectoryStep& added = add_step(TrajectoryStepKind::paulis, line);
            added.pattern = channel.constant;
            added.first = first;
            added.end = first + step.group_size;
            added.number = static_cast<uint32_t>(herald);  // UINT32_MAX: none
        }
        if (probability > 0)
            places.push_back({.kind = NoiseKind::paulis, .step = static_cast<uint32_t>(steps.size()), .number = static_cast<uint32_t>(channel_number),
                              .first = first, .size = step.group_size, .herald = herald, .probability = probability});
    }
}

// A relaxation multiplies the population of |1> by a and the coherence by b. As a mixture of the identity, a reset, a Z, and as little
// amplitude damping as possible: without any for b <= a (T2 <= T1); else what is left after the reset and the identity must be a
// channel, which it is with the largest weights of these if it is amplitude damping.
void TrajectoryProgram::add_relaxation(const CircuitStep& step, uint32_t qubit) {
    constexpr double rounding = 1e-12;
    const double a = 1 - step.amount, b = std::sqrt(a) * (1 - 2 * step.second_amount);
    NoisePlace place{.kind = NoiseKind::relaxation, .step = static_cast<uint32_t>(steps.size()), .first = static_cast<uint32_t>(targets.size()),
                     .size = 1};
    targets.push_back(qubit);
    if (b <= a * (1 + rounding)) {
        place.weights = {step.amount, std::max(0.0, a - b) / 2, 0};
    } else if (1 + 2 * a - 3 * b >= 0) {
        place.weights = {1 + 2 * a - 3 * b, 0, 4 * (b - a)};
        place.amplitude = 0.5;
    } else {
        const double nothing = std::max(0.0, (a - b * b) / (1 + a - 2 * b));
        place.weights = {0, 0, 1 - nothing};
        place.amplitude = (b - nothing) / (1 - nothing);
    }
    place.probability = std::min(1.0, place.weights[0] + place.weights[1] + place.weights[2]);
    if (place.probability > 0) places.push_back(place);
}

// In a circuit with leakage, a meeting follows each relaxation: then none precedes a reset.
void TrajectoryProgram::note_resets() {
    using Kind = TrajectoryStepKind;
    std::vector<uint8_t> is_reset_next(num_qubits, 1);  // or nothing
    auto place = places.rbegin();
    const auto note_places = [&](size_t step) {
        for (; place != places.rend() && place->step == step; ++place)
            if (place->kind == NoiseKind::relaxation) place->precedes_reset = is_reset_next[targets[place->first]] != 0;
    };
    note_places(steps.size());
    for (size_t k = steps.size(); k-- > 0; note_places(k)) {
        const TrajectoryStep& step = steps[k];
        switch (step.kind) {
            case Kind::detector:
            case Kind::observable:
                break;
            case Kind::skip:
            case Kind::accept:
            case Kind::end_block:
                std::ranges::fill(is_reset_next, 0);
                break;
            case Kind::rotate:
            case Kind::turn:
            case Kind::measure:
            case Kind::reset:
            case Kind::feedback:
            case Kind::correlated_error:
            case Kind::expectation:
                for (uint32_t f = step.first; f < step.end; ++f) is_reset_next[factors[f].qubit] = step.kind == Kind::reset;
                break;
            default:
                for (uint32_t t = step.first; t < step.end; ++t) is_reset_next[targets[t]] = 0;
        }
    }
}

void TrajectoryProgram::add_classes() {
    for (std::vector<NoiseClass>* const classes : {&structural, &pauli}) {
        std::vector<uint32_t> order;
        for (uint32_t k = 0; k < places.size(); ++k) {
            const NoiseKind kind = places[k].kind;
            const bool is_structural =
                kind == NoiseKind::relaxation || kind == NoiseKind::leaking || kind == NoiseKind::leaking_from_ones;
            if (is_structural == (classes == &structural)) order.push_back(k);
        }
        std::ranges::stable_sort(order, std::ranges::greater{}, [&](uint32_t k) { return places[k].probability; });
        for (const uint32_t k : order) {
            const double probability = places[k].probability;
            if (classes->empty() || classes->back().probability >= class_range * probability)
                classes->push_back({probability, std::log1p(-probability), {}});
            classes->back().places.push_back(k);
        }
        for (NoiseClass& each : *classes) std::ranges::sort(each.places);
    }
}

}  // namespace snc
