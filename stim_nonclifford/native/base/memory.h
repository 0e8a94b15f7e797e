// Memory for long arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace snc {

constexpr std::size_t cache_line_bytes = 64;
// Arrays of at least this size use pages of this size, where the system has them: fewer pages have to be set up and
// translated.
constexpr std::size_t huge_page_bytes = std::size_t{1} << 21;

constexpr std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{bytes < huge_page_bytes ? cache_line_bytes : huge_page_bytes};
}

inline void* allocate_aligned(std::size_t bytes) {
    void* const memory = ::operator new(bytes, alignment_of(bytes));
#ifdef MADV_HUGEPAGE
    // The result does not matter: small pages work as well.
    if (bytes >= huge_page_bytes) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

inline void free_aligned(void* memory, std::size_t bytes) { ::operator delete(memory, alignment_of(bytes)); }

// Memory that starts at a cache line, so that no block of numbers lies across two of them.
template <typename T>
struct Aligned {
    using value_type = T;

    Aligned() = default;
    template <typename Other>
    Aligned(const Aligned<Other>&) {}

    static T* allocate(std::size_t count) { return static_cast<T*>(allocate_aligned(count * sizeof(T))); }
    static void deallocate(T* memory, std::size_t count) { free_aligned(memory, count * sizeof(T)); }
    bool operator==(const Aligned&) const = default;
};

// A fixed number of numbers that start at a cache line. They are not initialized, because a pass over a long vector takes
// time.
template <typename T>
class AlignedNumbers {
   public:
    explicit AlignedNumbers(std::size_t size) : size_(size), numbers_(Aligned<T>::allocate(size), Free{size}) {}
    AlignedNumbers(const T* from, std::size_t size) : AlignedNumbers(size) { std::copy_n(from, size, data()); }

    T* data() { return numbers_.get(); }
    const T* data() const { return numbers_.get(); }
    std::size_t size() const { return size_; }

   private:
    struct Free {
        std::size_t size;
        void operator()(T* numbers) const { Aligned<T>::deallocate(numbers, size); }
    };
    std::size_t size_;
    std::unique_ptr<T[], Free> numbers_;
};
using AlignedDoubles = AlignedNumbers<double>;

}  // namespace snc
