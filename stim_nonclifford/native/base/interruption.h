// Stops long work: by Ctrl-C, or because another thread of the same work has failed.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

namespace snc {

// The time between two polls of a thread that works or waits.
constexpr auto poll_period = std::chrono::milliseconds(50);

// Thrown in the other threads when one of them has failed.
struct Stopped {};

// Made by the thread that was called, which passes its `poll`: a function that throws to stop the work.
class Interruption {
   public:
    explicit Interruption(std::function<void()> poll) : poll_(std::move(poll)) {}
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    // All threads of the work call this often, every few milliseconds at least. The thread that was called polls several times
    // a second.
    void look() {
        if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
        if (std::this_thread::get_id() != caller_) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_poll_ < poll_period) return;
        last_poll_ = now;
        poll_();
    }
    // Lets all threads stop at their next look.
    void stop() { stop_ = true; }

   private:
    const std::function<void()> poll_;
    const std::thread::id caller_ = std::this_thread::get_id();
    std::atomic<bool> stop_ = false;
    std::chrono::steady_clock::time_point last_poll_{};
};

// Looks once in a while: a loop with short iterations calls this in each of them.
class Looks {
   public:
    explicit Looks(Interruption& interruption) : interruption_(interruption) {}
    void operator()(uint64_t steps = 1) {
        if ((steps_ += steps) < steps_between) return;
        steps_ = 0;
        interruption_.look();
    }

   private:
    static constexpr uint64_t steps_between = uint64_t{1} << 16;

    Interruption& interruption_;
    uint64_t steps_ = 0;
};

// Sorts a long range.
template <typename Range, typename Less>
void sort_with_looks(Range& range, Interruption& interruption, Less less) {
    Looks look(interruption);
    std::sort(range.begin(), range.end(), [&](const auto& a, const auto& b) {
        look();
        return less(a, b);
    });
}

}  // namespace snc
