// One thread plays a team of threads. This counterpart of `kernels/launch/team_device.h` lets the device's kernels run, and be
// tested, on machines without a GPU. Sums are taken in the device's order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace snc {

template <uint32_t team_size>
class HostTeam {
   public:
    // `reversed` runs the indices of a section from the last one to the first: the result of a section must not depend on their
    // order.
    HostTeam(uint8_t* shared, uint32_t index, uint32_t num_teams, bool reversed)
        : shared_(shared), index_(index), num_teams_(num_teams), reversed_(reversed) {}

    static constexpr uint32_t size() { return team_size; }
    static constexpr uint32_t index_in_block() { return 0; }
    uint32_t index() const { return index_; }
    uint8_t* shared() const { return shared_; }

    template <typename Use>
    void for_each(uint32_t count, Use use) {
        if (reversed_)
            for (uint32_t k = count; k-- > 0;) use(k);
        else
            for (uint32_t k = 0; k < count; ++k) use(k);
    }
    template <typename Use>
    void block_for_each(uint32_t count, Use use) {
        for_each(count, use);
    }
    template <typename Use>
    void grid_for_each(uint64_t count, Use use) {
        for (uint64_t k = index_; k < count; k += num_teams_) use(k, true);
    }

    template <typename Use>
    void for_each_in_warps(uint32_t count, Use use) {
        for_each(count, [&](uint32_t k) { use(k, true); });
    }

    template <typename Value, typename Read, typename Write>
    void read_then_write(uint32_t count, Read read, Write write) {
        constexpr uint32_t batch = 4;
        for (uint32_t begin = 0; begin < count; begin += team_size * batch) {
            const uint32_t size = std::min(count - begin, team_size * batch);
            std::array<Value, team_size * batch> values;
            for_each(size, [&](uint32_t k) { values[k] = read(begin + k); });
            for_each(size, [&](uint32_t k) { write(begin + k, values[k]); });
        }
    }

    template <typename Make>
    void exclusive_sums(uint32_t* values, uint32_t count, uint32_t*, Make make) {
        uint32_t sum = 0;
        for (uint32_t j = 0; j < count / 4; ++j) {
            const Four made = make(j);
            for (uint32_t k = 0; k < 4; ++k) {
                values[4 * j + k] = sum;
                sum += made.numbers[k];
            }
        }
        values[count] = sum;
    }

    template <typename Term>
    void sums(uint32_t count, bool wanted, Term term, double& first, double& second) {
        std::array<std::array<double, 2>, team_size> parts{};
        for_each(team_size, [&](uint32_t t) {
            for (uint32_t k = t; k < count; k += team_size) term(k, parts[t][0], parts[t][1]);
        });
        if (!wanted) return;
        for (uint32_t step = 16; step > 0; step /= 2) {
            const auto old = parts;
            for (uint32_t t = 0; t < team_size; ++t)
                for (uint32_t s = 0; s < 2; ++s) parts[t][s] = old[t][s] + old[t ^ step][s];
        }
        first = parts[0][0];
        second = parts[0][1];
        for (uint32_t t = 32; t < team_size; t += 32) {
            first += parts[t][0];
            second += parts[t][1];
        }
    }

    uint64_t take(uint64_t* counter) { return (*counter)++; }
    uint64_t append(uint64_t* counter, bool wants) { return wants ? (*counter)++ : 0; }
    template <typename T>
    static T add(T* counter, T value) {
        const T old = *counter;
        *counter += value;
        return old;
    }
    static uint32_t add_in_shared(uint32_t* counter, uint32_t value) { return add(counter, value); }
    template <typename T>
    static T exchange_if(T* word, T expected, T desired) {
        const T old = *word;
        if (old == expected) *word = desired;
        return old;
    }
    template <typename T>
    static T read_shared_word(const T* word) {
        return *word;
    }
    template <typename Use>
    void once(Use use) {
        use();
    }
    static constexpr bool leads() { return true; }

   private:
    uint8_t* shared_;
    uint32_t index_, num_teams_;
    bool reversed_;
};

}  // namespace snc
