// Runs the independent parts of a long task on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "threads.h"

namespace snc {

// Each thread, including the calling one, calls make_worker() for a function of its own, and calls that function with the
// numbers of parts until no part remains. The calling thread calls `interrupted` from time to time, which throws to stop.
template <typename MakeWorker>
void run_parts(size_t num_parts, uint32_t num_threads, const std::function<void()>& interrupted, MakeWorker make_worker) {
    std::atomic<size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&](bool is_calling) {
        try {
            auto worker = make_worker();
            for (size_t part = next++; part < num_parts; part = next++) {
                if (is_calling) interrupted();
                worker(part);
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            next = num_parts;
        }
    };
    {
        Threads threads;
        const size_t useful = std::min<size_t>(num_threads, num_parts);
        try {
            if (useful > 1) threads.start(useful - 1, [&](size_t) { work(false); });
        } catch (...) {
            next = num_parts;  // else the started threads would finish all the work first
            throw;
        }
        work(true);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace snc
