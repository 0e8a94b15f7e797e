// Python's lock (GIL), and signals, while C++ works.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

// Releases the lock for the duration of a scope, so that other Python threads can run.
class WithoutGil {
   public:
    // Call this when the module is loaded.
    static void prepare() {
        main_thread_ = nanobind::object(nanobind::module_::import_("threading").attr("main_thread")).release();
        note_main_thread();
    }

    WithoutGil() {
        note_main_thread();
        state_ = PyEval_SaveThread();
    }
    ~WithoutGil() noexcept(false) { take_lock(state_); }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

    // Call this from time to time in such a scope, in the thread that opened it. Throws the exception of a signal handler,
    // such as KeyboardInterrupt. Handlers run in Python's main thread only; the other threads do not take the lock here.
    static void check_signals() {
        if (!in_main_thread()) return;
        const nanobind::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

    // Whether this is Python's main thread. Python functions are called back in it only: where a program ends, Python ends
    // the other threads inside such a call, and their stack has C++ functions that must not be unwound.
    static bool in_main_thread() {
        return PyThread_get_thread_ident() == main_ident_.load(std::memory_order_relaxed);
    }

   private:
    // A fork changes the main thread.
    static void note_main_thread() { main_ident_ = nanobind::cast<unsigned long>(main_thread_().attr("ident")); }

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

    static inline nanobind::handle main_thread_;  // the function threading.main_thread
    static inline std::atomic<unsigned long> main_ident_;
    PyThreadState* state_;
};
