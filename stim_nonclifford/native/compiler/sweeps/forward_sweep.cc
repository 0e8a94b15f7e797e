#include "compiler/sweeps/forward_sweep.h"

#include <algorithm>
#include <utility>

namespace snc {

namespace {

struct Patch {
    explicit Patch(std::vector<uint32_t> on)
        : qubits(std::move(on)), table(qubits.size()), deferred(qubits.size()), dormant((qubits.size() + 63) / 64) {
        for (size_t c = 0; c < qubits.size(); ++c) flip_bit(dormant, c);
        active.resize(dormant.size());
    }

    std::vector<uint32_t> qubits;
    CoordinateTable table;
    DeferredRotations deferred;
    Bits active, dormant;  // coordinates

    bool acts_on_active(const Pauli& pauli) const { return have_common(pauli.x, active) || have_common(pauli.z, active); }
    bool acts_on_dormant(const Pauli& pauli) const { return have_common(pauli.x, dormant); }  // unless it is trivial there
    void change(const CoordinateChange& change) {
        table.change(change);
        deferred.change(change);
    }
};

// A Pauli on one qubit that flips the eigenvalue of another one.
QubitPauli flipping(QubitPauli factor) { return {factor.qubit, factor.code == z_part ? x_part : z_part}; }

// Gates that turn a Pauli with an X on the pivot into X or -X there, and do nothing where the pivot is |0>.
CoordinateChange to_x(const Pauli& pauli, size_t pivot) {
    CoordinateChange change;
    if (has_bit(pauli.z, pivot)) change.add(CoordinateGate::s_dag, pivot);
    Bits others = pauli.x;
    for (size_t w = 0; w < pauli.z.size(); ++w) others[w] |= pauli.z[w];
    for_each_bit(others, [&](size_t c) {
        if (c == pivot) return;
        if (!has_bit(pauli.x, c)) {
            change.add(CoordinateGate::cz, pivot, c);
            return;
        }
        const bool is_y = has_bit(pauli.z, c);
        if (is_y) change.add(CoordinateGate::s_dag, c);
        change.add(CoordinateGate::cx, pivot, c);
        if (is_y) change.add(CoordinateGate::s, c);
    });
    return change;
}

// Gates that turn a Pauli with an X on the pivot into +Z there.
CoordinateChange to_plus_z(const Pauli& pauli, size_t pivot) {
    CoordinateChange change = to_x(pauli, pivot);
    const bool is_negative = change.is_negative_after(pauli);
    change.add(CoordinateGate::h, pivot);
    if (is_negative) change.add(CoordinateGate::x, pivot);
    return change;
}

// Gates that turn a product of Z, one of them on the pivot, into +Z there.
CoordinateChange product_to_plus_z(const Pauli& pauli, size_t pivot) {
    CoordinateChange change;
    for_each_bit(pauli.z, [&](size_t c) {
        if (c != pivot) change.add(CoordinateGate::cx, c, pivot);
    });
    if (pauli.is_negative) change.add(CoordinateGate::x, pivot);
    return change;
}

class Sweep {
   public:
    Sweep(const Program& program, bool keep_order, const Progress& progress)
        : program_(program),
          keep_order_(keep_order),
          progress_(progress),
          patch_on_(program.num_qubits),
          place_of_(program.num_qubits),
          batch_(program.num_qubits) {
        for (auto& qubits : program.connected_qubits()) {
            for (size_t place = 0; place < qubits.size(); ++place) {
                patch_on_[qubits[place]] = patches_.size();
                place_of_[qubits[place]] = static_cast<uint32_t>(place);
            }
            patches_.emplace_back(std::move(qubits));
        }
        patches_.emplace_back(std::vector<uint32_t>{});  // of measurements without qubits
        result_.base_records.resize(program.num_records);
    }

    QuantumProgram run() {
        program_.forward([&](const CircuitStep& step, int64_t number, const Shift& shift) {
            if (number % steps_per_report == 0) progress_(number);
            follow(step, number, shift);
        });
        measure_batch();
        return std::move(result_);
    }

   private:
    size_t patch_of(Factors factors) const { return factors.empty() ? patches_.size() - 1 : patch_on_[factors[0].qubit]; }
    // The same Pauli on the qubits of its patch.
    std::vector<QubitPauli> local(Factors factors) const {
        std::vector<QubitPauli> found(factors.begin(), factors.end());
        for (QubitPauli& factor : found) factor.qubit = place_of_[factor.qubit];
        return found;
    }
    Pauli coordinate_form(Factors factors) const { return patches_[patch_of(factors)].table.image(local(factors)); }
    std::vector<QubitPauli> circuit_form(const Patch& patch, size_t coordinate, uint32_t code) const {
        std::vector<QubitPauli> factors = patch.table.inverse_image(coordinate, code);
        for (QubitPauli& factor : factors) factor.qubit = patch.qubits[factor.qubit];
        return factors;
    }

    void follow(const CircuitStep& step, int64_t number, const Shift& shift);
    void apply_gate(const CircuitStep& step);
    void apply_pauli(QubitPauli factor) {
        patches_[patch_on_[factor.qubit]].table.apply_pauli({place_of_[factor.qubit], factor.code});
    }
    void rotate(int64_t step, Factors factors);
    void measure_batch();
    std::optional<MeasurementCost> cost_of(size_t place, const MeasurementCost& least) const;
    // Measures along the base path; returns the outcome. Record -1: there is none.
    bool measure(int64_t step, Factors factors, int64_t record);
    void measure_active(int64_t step, Patch& patch, const Pauli& pauli);
    // Notes the Pauli of an expectation value, which is that of the base path.
    void expect(int64_t step, Factors factors, bool is_negative);
    // Applies the deferred rotations that a measurement in a step needs, and returns its Pauli.
    Pauli apply_needed(int64_t step, Patch& patch, Factors factors);
    // Applies a deferred rotation, for a measurement in a step.
    void apply_rotation(Patch& patch, size_t number, int64_t step);
    // The insertion of a Z of a coordinate.
    Insertion insertion(int64_t step, const Patch& patch, size_t coordinate, const Bits& deferred) const {
        std::vector<QubitPauli> factors = circuit_form(patch, coordinate, z_part);
        std::vector<int64_t> reordered = batch_.reordered(step, factors);
        return {step, std::move(factors), patch.deferred.steps(deferred), std::move(reordered)};
    }
    void append(Kind kind, const Patch& patch, const Pauli& pauli, size_t pivot, int64_t outcome, int64_t step,
                bool is_negative_angle = false);
    // Appends the bits of the index that a Pauli flips, and those whose parity is its sign; returns its power of i.
    uint32_t append_index_pauli(const Patch& patch, const Pauli& pauli, SparseRows& x_rows, SparseRows& z_rows) const;

    const Program& program_;
    const bool keep_order_;
    const Progress& progress_;
    std::vector<Patch> patches_;
    std::vector<size_t> patch_on_;    // by qubit
    std::vector<uint32_t> place_of_;  // by qubit, its number in the patch
    std::vector<std::pair<Patch*, size_t>> active_;  // the patch and coordinate of bit k of the index
    size_t num_deferred_ = 0;
    size_t num_changes_ = 0;  // of patches, by measurements
    MeasurementBatch batch_;
    QuantumProgram result_;
};

void Sweep::follow(const CircuitStep& step, int64_t number, const Shift& shift) {
    const Factors factors = program_.factors(step);
    if (step.kind == CircuitStepKind::noise) return;
    if (step.kind == CircuitStepKind::measure && !step.resets) {
        // It joins the batch, or a new one if it must come after the batch.
        if (!batch_.commutes_with(factors)) measure_batch();
        batch_.add(number, factors, step.record + shift.records, step.is_inverted);
        return;
    }
    measure_batch();
    switch (step.kind) {
        case CircuitStepKind::clifford:
            apply_gate(step);
            break;
        case CircuitStepKind::rotate:
            rotate(number, factors);
            break;
        case CircuitStepKind::measure: {
            const int64_t record = step.record + shift.records;
            const bool outcome = measure(number, factors, record);
            result_.base_records[static_cast<size_t>(record)] = outcome != step.is_inverted;
            if (outcome) apply_pauli(flipping(factors[0]));
            break;
        }
        case CircuitStepKind::reset:
            if (measure(number, factors, -1)) apply_pauli(flipping(factors[0]));
            break;
        case CircuitStepKind::feedback:
            if (result_.base_records[static_cast<size_t>(step.record + shift.records)] != 0) apply_pauli(factors[0]);
            break;
        case CircuitStepKind::expectation:
            expect(number, factors, step.is_inverted);
            break;
        default:
            break;
    }
}

void Sweep::apply_gate(const CircuitStep& step) {
    const GateTables& gate = program_.gate(step);
    const auto targets = program_.targets(step);
    if (targets.empty()) return;
    // Groups on the same patch are applied together.
    std::vector<uint32_t> places;
    size_t patch = patch_on_[targets[0]];
    for (size_t first = 0; first < targets.size(); first += gate.num_targets) {
        if (patch_on_[targets[first]] != patch) {
            patches_[patch].table.apply(gate, places);
            places.clear();
            patch = patch_on_[targets[first]];
        }
        for (size_t k = 0; k < gate.num_targets; ++k) places.push_back(place_of_[targets[first + k]]);
    }
    patches_[patch].table.apply(gate, places);
}

void Sweep::rotate(int64_t step, Factors factors) {
    Patch& patch = patches_[patch_of(factors)];
    const Pauli pauli = coordinate_form(factors);
    const bool is_trivial = is_empty(pauli.x) && !have_common(pauli.z, patch.active);
    if (is_trivial && is_empty(patch.deferred.anticommuting(pauli))) return;  // an eigenstate: a global phase
    patch.deferred.add(step, pauli);
    ++num_deferred_;
}

void Sweep::measure_batch() {
    if (batch_.empty()) return;
    std::vector<bool> is_done(batch_.size());
    size_t num_done = 0;
    const auto do_next = [&](size_t place) {
        const MeasurementBatch::Measurement& next = batch_[place];
        result_.is_reordered |= place != num_done++;
        is_done[place] = true;
        const size_t before = num_changes_;
        const bool outcome = measure(next.step, next.factors, next.record);
        result_.base_records[static_cast<size_t>(next.record)] = outcome != next.is_inverted;
        batch_.set_done(place);
        if (num_done % static_cast<size_t>(steps_per_report) == 0) progress_(next.step);
        return num_changes_ != before;
    };
    const auto may_reorder = [&] { return batch_.size() - num_done > 1 && !keep_order_ && num_deferred_ > 0; };
    if (may_reorder()) {
        std::vector<size_t> patches;
        for (size_t place = 0; place < batch_.size(); ++place) patches.push_back(patch_of(batch_[place].factors));
        MeasurementOrder order(batch_, std::move(patches), patches_.size(),
                               [&](size_t place, const MeasurementCost& least) { return cost_of(place, least); });
        while (may_reorder()) {
            const size_t place = order.next();
            order.remove(place, do_next(place));
        }
    }
    for (size_t place = 0; place < batch_.size(); ++place)
        if (!is_done[place]) do_next(place);
    batch_.clear();
}

std::optional<MeasurementCost> Sweep::cost_of(size_t place, const MeasurementCost& least) const {
    const Factors factors = batch_[place].factors;
    const Patch& patch = patches_[patch_of(factors)];
    const Pauli pauli = coordinate_form(factors);
    const Bits needed = patch.deferred.needed_by(pauli);
    if (is_empty(needed)) return MeasurementCost{0, patch.acts_on_dormant(pauli), 0};
    const size_t limit = std::min(least.activated, patch.qubits.size() + 1) + 1;
    const size_t activated = patch.deferred.num_activated_by(needed, patch.dormant, limit);
    if (activated > least.activated) return {};
    // A fair coin makes no coordinate dormant: it concerns one that is never activated.
    const bool is_coin = patch.deferred.num_activated_by(needed, patch.dormant, activated + 1, &pauli) > activated;
    return MeasurementCost{activated, is_coin, count_bits(needed)};
}

Pauli Sweep::apply_needed(int64_t step, Patch& patch, Factors factors) {
    Pauli pauli = coordinate_form(factors);
    const Bits needed = patch.deferred.needed_by(pauli);
    if (is_empty(needed)) return pauli;
    for_each_bit(needed, [&](size_t number) { apply_rotation(patch, number, step); });
    return coordinate_form(factors);
}

void Sweep::expect(int64_t step, Factors factors, bool is_negative) {
    Patch& patch = patches_[patch_of(factors)];
    Pauli pauli = apply_needed(step, patch, factors);
    pauli.is_negative ^= is_negative;
    const uint32_t i_power = append_index_pauli(patch, pauli, result_.expected_x, result_.expected_z);
    result_.expectations.push_back({static_cast<int64_t>(result_.operations.size()), patch.acts_on_dormant(pauli), i_power});
}

bool Sweep::measure(int64_t step, Factors factors, int64_t record) {
    Patch& patch = patches_[patch_of(factors)];
    const Pauli pauli = apply_needed(step, patch, factors);
    const Bits dormant_x = common_bits(pauli.x, patch.dormant);
    if (!is_empty(dormant_x)) {
        const size_t tossed = lowest_bit(dormant_x);
        if (record >= 0 && !result_.operations.empty()) {
            result_.coins.push_back({static_cast<int64_t>(result_.operations.size()), record});
            result_.tosses.push_back(insertion(step, patch, tossed, patch.deferred.with_x(tossed)));
        }
        patch.change(to_plus_z(pauli, tossed));
        ++num_changes_;
        return false;
    }
    if (!patch.acts_on_active(pauli)) return pauli.is_negative;
    measure_active(step, patch, pauli);
    return false;
}

void Sweep::measure_active(int64_t step, Patch& patch, const Pauli& pauli) {
    Bits support = common_bits(pauli.x, patch.active);
    const bool has_x = !is_empty(support);
    if (!has_x) support = common_bits(pauli.z, patch.active);
    size_t bit = active_.size() - 1;
    while (active_[bit].first != &patch || !has_bit(support, active_[bit].second)) --bit;
    const size_t pivot = active_[bit].second;
    std::vector<QubitPauli> partner = circuit_form(patch, pivot, has_x ? z_part : x_part);
    append(Kind::measure, patch, pauli, bit, static_cast<int64_t>(result_.outcomes.size()), step);
    patch.change(has_x ? to_plus_z(pauli, pivot) : product_to_plus_z(pauli, pivot));
    ++num_changes_;
    active_.erase(active_.begin() + static_cast<ptrdiff_t>(bit));
    flip_bit(patch.active, pivot);
    flip_bit(patch.dormant, pivot);
    std::vector<int64_t> reordered = batch_.reordered(step, partner);
    result_.outcomes.push_back(
        {step, std::move(partner), patch.deferred.steps(patch.deferred.with_z(pivot)), std::move(reordered)});
}

// Whether a rotation that activates a coordinate should be about its Z instead of its X.
//
// Deferred rotations with nothing but Z on the coordinate are cheaper, because they are diagonal. As a rule they are of the
// same kind as the rotation that activates it. But a circuit that starts in eigenstates of Z, and rotates about all axes,
// has most of its rotations and CX gates in the basis of the state.
bool becomes_diagonal(const DeferredRotations& deferred, size_t number, size_t activated) {
    Bits with_x = deferred.with_x(activated), with_z = deferred.with_z(activated);
    for (Bits* bits : {&with_x, &with_z})
        if (has_bit(*bits, number)) flip_bit(*bits, number);
    return count_bits(without_bits(with_x, with_z)) >= count_bits(without_bits(with_z, with_x));
}

void Sweep::apply_rotation(Patch& patch, size_t number, int64_t step) {
    DeferredRotations& deferred = patch.deferred;
    Pauli pauli = deferred.pauli(number);
    const int64_t rotation = deferred.step(number);
    const Bits dormant_x = common_bits(pauli.x, patch.dormant);
    --num_deferred_;
    ++num_changes_;
    if (is_empty(dormant_x)) {
        deferred.remove(number);
        if (patch.acts_on_active(pauli)) append(Kind::rotate, patch, pauli, 0, -1, rotation);
        return;
    }
    const size_t activated = lowest_bit(dormant_x);
    patch.change(to_x(pauli, activated));
    result_.activations.push_back(insertion(step, patch, activated, deferred.with_x(activated)));
    if (becomes_diagonal(deferred, number, activated)) {
        CoordinateChange change;
        change.add(CoordinateGate::h, activated);
        patch.change(change);
    }
    active_.emplace_back(&patch, activated);
    flip_bit(patch.active, activated);
    flip_bit(patch.dormant, activated);
    pauli = deferred.pauli(number);
    deferred.remove(number);
    const bool is_negative = std::exchange(pauli.is_negative, false);
    append(Kind::activate, patch, pauli, active_.size() - 1, -1, rotation, is_negative);
    result_.peak_width = std::max(result_.peak_width, active_.size());
}

void Sweep::append(Kind kind, const Patch& patch, const Pauli& pauli, size_t pivot, int64_t outcome, int64_t step,
                   bool is_negative_angle) {
    const uint32_t i_power = append_index_pauli(patch, pauli, result_.x, result_.z);
    const size_t width = active_.size() - (kind == Kind::activate ? 1 : 0);
    result_.operations.push_back({static_cast<int64_t>(kind), static_cast<int64_t>(width), i_power, static_cast<int64_t>(pivot), outcome,
                                  step, is_negative_angle});
}

uint32_t Sweep::append_index_pauli(const Patch& patch, const Pauli& pauli, SparseRows& x_rows, SparseRows& z_rows) const {
    SparseRow x, z;
    uint32_t i_power = pauli.is_negative ? 2 : 0;
    for (size_t bit = 0; bit < active_.size(); ++bit) {
        const auto& [on, coordinate] = active_[bit];
        if (on != &patch) continue;
        const bool has_x = has_bit(pauli.x, coordinate), has_z = has_bit(pauli.z, coordinate);
        if (has_x) x.push_back(static_cast<int32_t>(bit));
        if (has_z) z.push_back(static_cast<int32_t>(bit));
        i_power += has_x && has_z;
    }
    x_rows.append(x);
    z_rows.append(z);
    return i_power % 4;
}

}  // namespace

QuantumProgram forward_sweep(const Program& program, bool keep_order, const Progress& progress) {
    return Sweep(program, keep_order, progress).run();
}

}  // namespace snc
