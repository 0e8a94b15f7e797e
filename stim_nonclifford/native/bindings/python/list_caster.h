// Python's lists as vectors, where memory may end while a list is read.
//
// nanobind's own caster for vectors allocates in a noexcept function, so that a list for which there is no memory ends the
// process. This caster remembers that, and throws when the value is taken. nanobind turns it into a MemoryError.
#pragma once

#include <nanobind/stl/detail/nb_list.h>

#include <new>
#include <vector>

namespace nanobind::detail {

template <typename T>
struct type_caster<std::vector<T>> : list_caster<std::vector<T>, T> {
    using Value = std::vector<T>;

    bool from_python(handle list, uint32_t flags, cleanup_list* cleanup) noexcept {
        is_too_long = false;
        try {
            return read(list, flags, cleanup);
        } catch (const std::bad_alloc&) {
            this->value = {};
            is_too_long = true;
            return true;
        }
    }

    explicit operator Value*() { return &taken(); }
    explicit operator Value&() { return taken(); }
    explicit operator Value&&() { return static_cast<Value&&>(taken()); }

    bool is_too_long = false;

   private:
    bool read(handle list, uint32_t flags, cleanup_list* cleanup) {
        const Py_ssize_t size = PyList_Check(list.ptr()) || PyTuple_Check(list.ptr()) ? PySequence_Size(list.ptr()) : -1;
        if (size < 0) return false;
        this->value.clear();
        this->value.reserve(static_cast<size_t>(size));
        flags = flags_for_local_caster<T>(flags);
        for (Py_ssize_t k = 0; k < size; ++k) {
            const object item = steal(PySequence_GetItem(list.ptr(), k));
            make_caster<T> caster;
            if (!item.is_valid() || !caster.from_python(item, flags, cleanup) || !caster.template can_cast<T>()) {
                PyErr_Clear();
                return false;
            }
            this->value.push_back(caster.operator cast_t<T>());
        }
        return true;
    }

    Value& taken() {
        if (is_too_long) throw std::bad_alloc();
        return this->value;
    }
};

}  // namespace nanobind::detail
