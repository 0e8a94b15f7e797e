// One-dimensional NumPy arrays as arguments and results.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

namespace snc {

template <typename T>
using InputArray = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <typename T>
std::vector<T> to_vector(const InputArray<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// An array that owns the numbers of a vector.
template <typename T>
nanobind::object to_array(std::vector<T> data) {
    auto* owned = new std::vector<T>(std::move(data));
    nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(owned->data(), {owned->size()}, owner));
}

}  // namespace snc
