// Threads for the time of a scope.
#pragma once

#include <thread>
#include <utility>
#include <vector>

namespace snc {

// Waits for its threads at the end of its life. (The standard library of macOS has no std::jthread.)
class Threads {
   public:
    Threads() = default;
    ~Threads() {
        for (std::thread& thread : threads_) thread.join();
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    template <typename... Work>
    void start(Work&&... work) {
        threads_.emplace_back(std::forward<Work>(work)...);
    }

   private:
    std::vector<std::thread> threads_;
};

}  // namespace snc
