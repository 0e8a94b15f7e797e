// Threads that wait for parts of one long operation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "threads.h"

namespace snc {

// The calling thread and others, which sleep between operations.
class Team {
   public:
    explicit Team(uint32_t num_threads) {
        try {
            for (uint32_t part = 1; part < num_threads; ++part) helpers_.start([this, part] { help(part); });
        } catch (...) {
            dismiss();  // those that there are: nobody else would
            throw;
        }
    }
    ~Team() { dismiss(); }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    uint32_t size() const { return static_cast<uint32_t>(helpers_.size()) + 1; }

    // Calls work(part) for each part < size(), each in a thread of its own; work must not throw.
    void run(const std::function<void(uint32_t)>& work) {
        work_ = &work;
        running_ = static_cast<uint32_t>(helpers_.size());
        ++round_;
        round_.notify_all();
        work(0);
        for (uint32_t left = running_; left != 0; left = running_) running_.wait(left);
    }

   private:
    void dismiss() {
        is_over_ = true;
        ++round_;
        round_.notify_all();
    }
    void help(uint32_t part) {
        for (uint64_t seen = 0;; ++seen) {
            round_.wait(seen);
            if (is_over_) return;
            (*work_)(part);
            --running_;
            running_.notify_all();
        }
    }

    const std::function<void(uint32_t)>* work_ = nullptr;
    std::atomic<uint64_t> round_ = 0;
    std::atomic<uint32_t> running_ = 0;
    std::atomic<bool> is_over_ = false;
    Threads helpers_;  // last: they use the rest
};

}  // namespace snc
