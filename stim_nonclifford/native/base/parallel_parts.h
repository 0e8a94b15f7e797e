// Runs the independent parts of a long task on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "base/interruption.h"
#include "base/threads.h"

namespace snc {

// Each thread, including the calling one, calls make_worker() for a function of its own, and calls that function with the
// numbers of parts until no part remains. Where parts are long, the function looks at the interruption on the way. An exception
// in one thread stops all of them.
template <typename MakeWorker>
void run_parts(size_t num_parts, size_t num_threads, Interruption& interruption, MakeWorker make_worker) {
    std::atomic<size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        try {
            auto worker = make_worker();
            for (size_t part = next++; part < num_parts; part = next++) {
                interruption.look();
                worker(part);
            }
        } catch (const Stopped&) {
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            interruption.stop();
        }
    };
    {
        Threads threads;
        const size_t useful = std::min(num_threads, num_parts);
        try {
            if (useful > 1) threads.start(useful - 1, [&](size_t) { work(); });
        } catch (...) {
            interruption.stop();  // else the started threads would finish all the work first
            throw;
        }
        work();
    }
    if (failure) std::rethrow_exception(failure);
}

// The same with make_worker(interruption). The calling thread calls `poll` from time to time, which throws to stop.
template <typename MakeWorker>
void run_parts(size_t num_parts, size_t num_threads, const std::function<void()>& poll, MakeWorker make_worker) {
    Interruption interruption(poll);
    run_parts(num_parts, num_threads, interruption, [&] { return make_worker(interruption); });
}

}  // namespace snc
