// A container whose elements never move while threads append to it.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "base/memory.h"

namespace snc {

// A limit for the total memory of several arrays.
class MemoryBudget {
   public:
    explicit MemoryBudget(size_t limit) : limit_(limit) {}

    // Reserves bytes. Returns false, and reserves nothing, if fewer bytes remain.
    bool take(size_t bytes) {
        size_t used = used_.load(std::memory_order_relaxed);
        do {
            if (bytes > limit_ - used) return false;
        } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
        return true;
    }
    // Reserves bytes and calls `allocate` for the memory. Returns false if the limit or the system's memory does not suffice.
    template <typename Allocate>
    bool take(size_t bytes, Allocate allocate) {
        if (!take(bytes)) return false;
        try {
            hold_reserve();
            allocate();
        } catch (const std::bad_alloc&) {
            let_reserve_go();
            give_back(bytes);
            return false;
        }
        return true;
    }
    void give_back(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

    size_t limit() const { return limit_; }
    size_t left() const { return limit_ - used(); }
    size_t used() const { return used_.load(std::memory_order_relaxed); }

   private:
    // Memory that is never touched. When the system has no more, it is let go, for what cannot do without memory, such as
    // the outputs of the shots.
    static constexpr size_t reserve_bytes = size_t{4} << 20;

    void hold_reserve() {
        const std::lock_guard lock(mutex_);
        if (!reserve_) reserve_ = std::make_unique_for_overwrite<std::byte[]>(reserve_bytes);
    }
    void let_reserve_go() {
        const std::lock_guard lock(mutex_);
        reserve_.reset();
    }

    const size_t limit_;
    std::atomic<size_t> used_ = 0;
    std::mutex mutex_;
    std::unique_ptr<std::byte[]> reserve_;
};

// Elements of `items` consecutive T each, stored in segments.
template <typename T>
class Arena {
   public:
    static constexpr uint32_t none = UINT32_MAX;

    // Holds at most about 2^30 elements.
    Arena(size_t items, MemoryBudget& budget)
        : items_(items),
          shift_(segment_shift(items * sizeof(T), budget.limit())),
          segments_(std::min(budget.limit() / segment_bytes(), max_elements >> shift_)),
          budget_(budget) {}

    // The number of a new element, whose items are not yet constructed; `none` if there is no memory for it.
    uint32_t take() {
        uint32_t number = size_.load(std::memory_order_relaxed);
        do {
            if (number >= capacity_.load(std::memory_order_acquire) && !grow(number)) return none;
        } while (!size_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed));
        return number;
    }

    // Call this when memory was released: after a failure, `take` does not ask for memory until then.
    void ask_again() { is_full_.store(false, std::memory_order_relaxed); }

    // The items of an element. A thread may call this once it has the number from the thread that appended it.
    T* at(uint32_t number) const {
        return static_cast<T*>(segments_[number >> shift_].get()) + (number & ((uint32_t{1} << shift_) - 1)) * items_;
    }

    uint32_t size() const { return size_.load(std::memory_order_relaxed); }

   private:
    static_assert(std::is_trivially_destructible_v<T>);
    static constexpr size_t max_elements = size_t{1} << 30;
    // A few huge pages, yet a small part of the memory limit.
    static constexpr size_t wanted_segment_bytes = huge_page_bytes, min_segments = 64;

    struct Free {
        size_t size = 0;
        void operator()(void* memory) const { free_aligned(memory, size); }
    };

    static uint32_t segment_shift(size_t element_bytes, size_t limit) {
        const size_t bytes = std::min(wanted_segment_bytes, limit / min_segments);
        return static_cast<uint32_t>(std::bit_width(bytes / std::max<size_t>(element_bytes, 1)));
    }
    size_t segment_bytes() const { return std::max<size_t>(items_ * sizeof(T), 1) << shift_; }

    bool grow(uint32_t number) {
        if (is_full_.load(std::memory_order_relaxed)) return false;
        const std::lock_guard lock(mutex_);
        const uint32_t capacity = capacity_.load(std::memory_order_relaxed);
        if (number < capacity) return true;
        const size_t next = capacity >> shift_, bytes = segment_bytes();
        const auto allocate = [&] { segments_[next] = {allocate_aligned(bytes), Free{bytes}}; };
        if (next == segments_.size() || !budget_.take(bytes, allocate)) {
            is_full_.store(true, std::memory_order_relaxed);
            return false;
        }
        capacity_.store(capacity + (uint32_t{1} << shift_), std::memory_order_release);
        return true;
    }

    const size_t items_;
    const uint32_t shift_;
    std::vector<std::unique_ptr<void, Free>> segments_;
    MemoryBudget& budget_;
    std::mutex mutex_;
    std::atomic<uint32_t> size_ = 0, capacity_ = 0;
    std::atomic<bool> is_full_ = false;
};

}  // namespace snc
