// Counts the steps of a search that runs in several threads, and ends it at a limit.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace snc {

class SearchSteps {
   public:
    using Clock = std::chrono::steady_clock;
    static constexpr uint64_t no_limit = ~uint64_t{0};

    explicit SearchSteps(uint32_t num_threads, uint64_t max_steps = no_limit, double max_seconds = 1e9)
        : num_threads_(num_threads),
          max_steps_(max_steps),
          end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(max_seconds, 1e9)))) {}

    // Thrown in every thread of a search that has ended at a limit.
    struct Ended {};

    // Adds steps of a thread. Returns after how many steps the thread shall come again: fewer towards the end, so that all
    // threads together make few steps beyond the limit.
    uint64_t add(uint64_t steps) {
        constexpr uint64_t most = uint64_t{1} << 16;
        const uint64_t all = steps_.fetch_add(steps) + steps;
        if (all > max_steps_ || Clock::now() > end_) end();
        if (has_ended_) throw Ended{};
        return std::clamp((max_steps_ - all) / (2 * uint64_t{num_threads_}), uint64_t{1}, most);
    }
    // Ends the search at another limit.
    void end() { has_ended_ = true; }
    [[noreturn]] void end_here() {
        end();
        throw Ended{};
    }

    bool has_ended() const { return has_ended_; }
    uint64_t total() const { return steps_; }

   private:
    const uint32_t num_threads_;
    const uint64_t max_steps_;
    const Clock::time_point end_;
    std::atomic<uint64_t> steps_ = 0;
    std::atomic<bool> has_ended_ = false;
};

}  // namespace snc
