// Python's lock (GIL), and signals, while C++ works.
#pragma once

#include <nanobind/nanobind.h>

#ifndef _WIN32
#include <pthread.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>

// A call took longer than it may.
struct TimeIsOver {};

// Releases the lock for the duration of a scope, so that other Python threads can run.
class WithoutGil {
   public:
    // Call this when the module is loaded.
    static void prepare() {
        const nanobind::object main_thread = nanobind::module_::import_("threading").attr("main_thread")();
        main_ident_ = nanobind::cast<unsigned long>(main_thread.attr("ident"));
#ifndef _WIN32
        // The thread that forks is the main thread of the new process.
        pthread_atfork(nullptr, nullptr, [] { main_ident_ = PyThread_get_thread_ident(); });
#endif
    }

    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() noexcept(false) { take_lock(state_); }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

    // Call this from time to time in such a scope, in the thread that opened it. Throws the exception of a signal handler,
    // such as KeyboardInterrupt, or TimeIsOver. Handlers run in Python's main thread only; the other threads do not take the lock
    // here.
    static void check_signals() {
        if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) throw TimeIsOver{};
        if (!in_main_thread()) return;
        const nanobind::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

    // Lets the calls of this thread end after so many seconds from now; infinite: lets them go on. Returns how many seconds they had
    // before.
    static double limit_time(double seconds) {
        using Seconds = std::chrono::duration<double>;
        const auto now = std::chrono::steady_clock::now();
        const double left = deadline_ ? Seconds(*deadline_ - now).count() : std::numeric_limits<double>::infinity();
        constexpr double most = 1e9;  // what a clock can count
        deadline_.reset();
        if (seconds < most) deadline_ = now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds(std::max(seconds, -most)));
        return left;
    }

    // Whether this is Python's main thread. Python functions are called back in it only: where a program ends, Python ends
    // the other threads inside such a call, and their stack has C++ functions that must not be unwound.
    static bool in_main_thread() {
        return PyThread_get_thread_ident() == main_ident_.load(std::memory_order_relaxed);
    }

   private:
    // When the program ends while a daemon thread is in such a scope, Python (before 3.14) ends the thread as soon as it
    // asks for the lock, by pthread_exit. That unwinds the stack, and aborts the program at the first function that is
    // noexcept, such as those of nanobind. So the thread waits here for the end of the process, as in later versions of
    // Python.
    [[gnu::noinline]] static void take_lock(PyThreadState* state) {
        try {
            PyEval_RestoreThread(state);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

    static inline std::atomic<unsigned long> main_ident_;
    static inline thread_local std::optional<std::chrono::steady_clock::time_point> deadline_;
    PyThreadState* state_;
};

// Runs long work.
template <typename Work>
auto without_gil(Work work) {
    const WithoutGil released;
    return work();
}
