// Threads that live for the duration of a scope.
#pragma once

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace snc {

// The destructor joins all threads. (The standard library of macOS has no std::jthread.)
class Threads {
   public:
    Threads() = default;
    ~Threads() {
        for (std::thread& thread : threads_) thread.join();
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    // Starts work(k) in a thread for each k < count.
    template <typename Work>
    void start(size_t count, Work work) {
        try {
            while (threads_.size() < count) threads_.emplace_back(work, threads_.size());
        } catch (const std::exception& error) {
            throw std::runtime_error("Of " + std::to_string(count + 1) + " threads, only " +
                                     std::to_string(threads_.size() + 1) + " could be started, including the calling thread (" +
                                     error.what() +
                                     "). Choose fewer threads, or raise the limits of the process for threads and memory.");
        }
    }

   private:
    std::vector<std::thread> threads_;
};

}  // namespace snc
