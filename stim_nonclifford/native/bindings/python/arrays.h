// One-dimensional NumPy arrays as arguments and results.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace snc {

template <typename T>
using InputArray = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <typename T>
std::vector<T> to_vector(const InputArray<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// An array that owns the numbers of a vector, of one dimension or in rows.
template <typename T>
nanobind::object to_array(std::vector<T> data, std::initializer_list<size_t> shape) {
    auto* owned = new std::vector<T>(std::move(data));
    nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(owned->data(), shape, owner));
}
template <typename T>
nanobind::object to_array(std::vector<T> data) {
    const size_t size = data.size();
    return to_array(std::move(data), {size});
}

// What Python gets: an array for a vector that is moved, else nanobind's own type.
template <typename T>
nanobind::object to_object(std::vector<T>&& data) {
    return to_array(std::move(data));
}
template <typename T>
nanobind::object to_object(const T& value) {
    return nanobind::cast(value);
}

// A dictionary of names and values, one after the other.
template <typename... Items>
nanobind::dict dict_of(Items&&... items) {
    nanobind::dict result;
    const auto add = [&](auto& self, const char* name, auto&& value, auto&&... rest) -> void {
        result[name] = to_object(std::forward<decltype(value)>(value));
        if constexpr (sizeof...(rest) > 0) self(self, std::forward<decltype(rest)>(rest)...);
    };
    add(add, std::forward<Items>(items)...);
    return result;
}

}  // namespace snc
