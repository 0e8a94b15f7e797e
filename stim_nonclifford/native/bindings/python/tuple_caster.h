// Structs as Python passes and gets them: tuples of their fields.
#pragma once

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace nanobind::detail {

template <typename Struct, auto... fields>
using TupleOf = std::tuple<std::remove_cvref_t<decltype(std::declval<Struct&>().*fields)>...>;

template <typename Struct, auto... fields>
struct TupleCaster : type_caster<TupleOf<Struct, fields...>> {
    using Tuple = TupleOf<Struct, fields...>;
    using Base = type_caster<Tuple>;
    using Value = Struct;
    template <typename T>
    using Cast = Struct;

    static handle from_cpp(const Struct& value, rv_policy policy, cleanup_list* cleanup) noexcept {
        return Base::from_cpp(std::tie(value.*fields...), policy, cleanup);
    }
    explicit operator Struct() {
        Struct value{};
        std::apply([&](auto&&... parts) { ((value.*fields = std::move(parts)), ...); }, Base::operator Tuple());
        return value;
    }
};

}  // namespace nanobind::detail

// Of the fields of a struct, by their names.
#define SNC_TUPLE_OF(Struct, ...)                   \
    template <>                                     \
    struct nanobind::detail::type_caster<Struct> : nanobind::detail::TupleCaster<Struct, __VA_ARGS__> {}
