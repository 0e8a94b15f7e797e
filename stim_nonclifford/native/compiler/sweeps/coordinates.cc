#include "compiler/sweeps/coordinates.h"

#include <utility>

namespace snc {

namespace {

// Storing the table by rows pays if a gate has at least this many groups of targets.
constexpr size_t many_groups = 16;
// More numbers than these, and more than twice the rotations that wait, are given anew.
constexpr size_t spare_numbers = 1000;

}  // namespace

CoordinateTable::CoordinateTable(size_t num_qubits) : num_qubits_(num_qubits) {
    const size_t size = (num_qubits + 63) / 64;
    rows_.assign(2 * num_qubits, {Bits(size), Bits(size), false});
    for (size_t q = 0; q < num_qubits; ++q) {
        flip_bit(rows_[q].x, q);
        flip_bit(rows_[num_qubits + q].z, q);
    }
}

Pauli CoordinateTable::row(size_t number) const {
    // So many reads take as long as to store the table by rows and back.
    if (!is_by_rows_ && ++num_read_ > num_qubits_ / 2 + 16) store_by_rows();
    return is_by_rows_ ? rows_[number] : columns_.row(number);
}

void CoordinateTable::store_by_rows() const {
    if (is_by_rows_) return;
    rows_ = columns_.rows(2 * num_qubits_);
    columns_ = PauliColumns();
    is_by_rows_ = true;
}

void CoordinateTable::store_by_columns() {
    if (!is_by_rows_) return;
    columns_ = PauliColumns::of(rows_, num_qubits_);
    rows_.clear();
    is_by_rows_ = false;
}

void CoordinateTable::flip_sign(size_t number) {
    if (is_by_rows_)
        rows_[number].is_negative ^= true;
    else
        columns_.flip_sign(number);
}

Pauli CoordinateTable::image(Factors factors) const {
    if (factors.size() == 1 && factors[0].code != y_code)
        return row(factors[0].qubit + (factors[0].code == z_part ? num_qubits_ : 0));
    return image(factors, [](uint32_t qubit) { return qubit; });
}

template <typename QubitAt>
Pauli CoordinateTable::image(Factors factors, QubitAt qubit_at) const {
    PauliProduct product;
    for (const auto& [place, code] : factors) {
        if ((code & x_part) != 0) product.multiply_by(row(qubit_at(place)));
        if ((code & z_part) != 0) product.multiply_by(row(num_qubits_ + qubit_at(place)));
        if (code == y_code) product.multiply_by_i();  // Y = i X Z
    }
    return std::move(product).hermitian();
}

std::vector<QubitPauli> CoordinateTable::inverse_image(size_t coordinate, uint32_t code) const {
    // The inverse image has an X on a qubit if it anticommutes with Z there: if the images of both anticommute.
    const auto anticommutes = [&](size_t number) {
        if (is_by_rows_) return has_bit(code == z_part ? rows_[number].x : rows_[number].z, coordinate);
        return has_bit(code == z_part ? columns_.with_x(coordinate) : columns_.with_z(coordinate), number);
    };
    std::vector<QubitPauli> factors;
    for (size_t q = 0; q < num_qubits_; ++q) {
        const uint32_t found = (anticommutes(num_qubits_ + q) ? x_part : 0) | (anticommutes(q) ? z_part : 0);
        if (found != 0) factors.push_back({static_cast<uint32_t>(q), found});
    }
    return factors;
}

void CoordinateTable::apply(const GateTables& gate, std::span<const uint32_t> qubits) {
    const size_t size = gate.num_targets;
    if (qubits.size() >= many_groups * size) store_by_rows();
    std::vector<std::pair<size_t, Pauli>> changed;
    std::vector<size_t> reversed;
    for (size_t first = 0; first + size <= qubits.size(); first += size) {
        const auto group = qubits.subspan(first, size);
        const auto number_of = [&](size_t generator) {
            return group[generator / 2] + (generator % 2 == 0 ? 0 : num_qubits_);
        };
        changed.clear();
        reversed.clear();
        for (size_t k = 0; k < 2 * size; ++k) {
            const auto& [factors, is_negative] = gate.inverse[k];
            if (factors.size() == 1 && factors[0] == QubitPauli{static_cast<uint32_t>(k / 2), 1U << k % 2}) {
                if (is_negative) reversed.push_back(number_of(k));
                continue;
            }
            Pauli pauli = image(factors, [&](uint32_t place) { return group[place]; });
            pauli.is_negative ^= is_negative;
            changed.emplace_back(number_of(k), std::move(pauli));
        }
        for (const size_t number : reversed) flip_sign(number);
        for (auto& [number, pauli] : changed) {
            if (is_by_rows_)
                rows_[number] = std::move(pauli);
            else
                columns_.replace_row(number, columns_.row(number), pauli);
        }
    }
}

void CoordinateTable::apply_pauli(QubitPauli factor) {
    if ((factor.code & x_part) != 0) flip_sign(num_qubits_ + factor.qubit);
    if ((factor.code & z_part) != 0) flip_sign(factor.qubit);
}

void CoordinateTable::change(const CoordinateChange& change) {
    store_by_columns();
    columns_.apply(change);
    num_read_ = 0;
}

std::vector<int64_t> DeferredRotations::steps(const Bits& rotations) const {
    std::vector<int64_t> found;
    for_each_bit(rotations, [&](size_t number) { found.push_back(steps_[number]); });
    return found;
}

void DeferredRotations::add(int64_t step, const Pauli& pauli) {
    if (steps_.size() > 2 * size_ + spare_numbers) {
        std::vector<std::pair<int64_t, Pauli>> kept;
        for_each_bit(waiting_, [&](size_t number) { kept.emplace_back(steps_[number], columns_.row(number)); });
        forget_all();
        for (const auto& [other_step, other] : kept) append(other_step, other);
    }
    append(step, pauli);
}

void DeferredRotations::append(int64_t step, const Pauli& pauli) {
    const size_t number = steps_.size();
    Bits before = anticommuting(pauli);
    if (is_empty(before)) before = {};
    before_.push_back(std::move(before));
    columns_.add_row(number, pauli);
    steps_.push_back(step);
    flip_bit(waiting_, number);
    ++size_;
}

void DeferredRotations::remove(size_t number) {
    flip_bit(waiting_, number);
    before_[number] = {};
    --size_;
}

void DeferredRotations::forget_all() {
    columns_.clear();
    steps_.clear();
    before_.clear();
    waiting_.clear();
    size_ = 0;
}

Bits DeferredRotations::needed_by(const Pauli& pauli) const {
    Bits needed;
    if (size_ == 0) return needed;
    Bits left = anticommuting(pauli);
    if (is_empty(left)) return needed;
    needed.resize(left.size());
    for (size_t w = left.size(); w-- > 0;) {
        while (left[w] != 0) {
            const size_t number = 64 * w + 63 - static_cast<size_t>(std::countl_zero(left[w]));
            flip_bit(needed, number);
            flip_bit(left, number);
            const Bits& before = before_[number];
            for (size_t k = 0; k < before.size(); ++k) left[k] |= before[k] & waiting_[k];
        }
    }
    return needed;
}

size_t DeferredRotations::num_activated_by(const Bits& rotations, const Bits& coordinates, size_t limit,
                                           const Pauli* also) const {
    if (count_bits(rotations) < count_bits(coordinates)) {
        Rank rows(64 * coordinates.size());
        if (also != nullptr && limit > 0) rows.add(common_bits(also->x, coordinates));
        for_each_bit(rotations, [&](size_t number) {
            if (rows.rank() < limit) rows.add(common_bits(columns_.row(number).x, coordinates));
        });
        return rows.rank();
    }
    const size_t last = 64 * rotations.size();  // the bit of the other Pauli
    Rank columns(last + 64);
    for_each_bit(coordinates, [&](size_t coordinate) {
        if (columns.rank() >= limit) return;
        Bits column = common_bits(columns_.with_x(coordinate), rotations);
        if (also != nullptr && has_bit(also->x, coordinate)) flip_bit(column, last);
        columns.add(std::move(column));
    });
    return columns.rank();
}

void DeferredRotations::change(const CoordinateChange& change) {
    if (size_ != 0)
        columns_.apply(change);
    else if (!steps_.empty())
        forget_all();
}

}  // namespace snc
