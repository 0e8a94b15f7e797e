// Executes calls from several threads one after the other.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

#include "base/interruption.h"

namespace snc {

// The process that asks.
inline int process_id() {
#ifdef _WIN32
    return _getpid();
#else
    return getpid();
#endif
}

class Turns {
   public:
    // `what` the calls are of, for messages.
    explicit Turns(std::string what) : what_(std::move(what)) {}

    // The turn of the calling thread, for the duration of a scope.
    class Turn {
       public:
        // Waits until no other thread has the turn. Meanwhile it calls `poll` several times a second, which may throw to
        // stop waiting.
        Turn(Turns& turns, const std::function<void()>& poll) : turns_(turns) { turns_.take(poll); }
        ~Turn() { turns_.give_back(); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

       private:
        Turns& turns_;
    };

   private:
    void take(const std::function<void()>& poll) {
        const std::thread::id self = std::this_thread::get_id();
        std::unique_lock lock(mutex_);
        // A signal handler runs in the middle of a call, during a poll.
        if (holder_ == self) throw std::runtime_error("This thread is inside a call of the same " + what_ + " already.");
        while (holder_ != std::thread::id()) {
            if (process_ != process_id())
                throw std::runtime_error("The process was forked while another thread was inside a call of this " + what_ +
                                         ". Make another " + what_ + " in the new process.");
            free_.wait_for(lock, poll_period);
            if (holder_ == std::thread::id()) break;
            lock.unlock();
            poll();
            lock.lock();
        }
        holder_ = self;
        process_ = process_id();
    }

    void give_back() {
        {
            const std::lock_guard lock(mutex_);
            holder_ = {};
        }
        free_.notify_one();
    }

    const std::string what_;
    std::mutex mutex_;
    std::condition_variable free_;
    std::thread::id holder_;
    int process_ = 0;  // of the last holder
};

}  // namespace snc
