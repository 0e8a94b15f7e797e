"""Translates single PTX instructions to C++ that uses the functions of ``runtime``."""

from __future__ import annotations

import re
from collections.abc import Callable

from .syntax import Unknown, split_operands

CPP_TYPES = {
    **{f"{kind}{bits}": f"uint{bits}_t" for kind in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    "f64": "double",
    "pred": "bool",
}
"""By type of PTX. Numbers of 32 bits with a floating point are not used by the kernels."""

BYTES = {name: int(name[1:]) // 8 for name in CPP_TYPES if name != "pred"}
_INTEGERS = [name for name in BYTES if name != "f64"]
SYNCHRONIZING = ("bar", "barrier", "shfl", "vote", "atom", "red")

_SPACES = {"global": "kGlobal", "shared": "kShared", "param": "kParam"}
_SPECIAL = {
    "%tid.x": "t.tid",
    "%ntid.x": "t.launch().block_threads",
    "%ctaid.x": "t.block_index()",
    "%nctaid.x": "t.launch().num_blocks",
    "%laneid": "(t.tid % 32)",
    **{f"%{name}.{axis}": "0u" for name in ("tid", "ctaid") for axis in "yz"},
    **{f"%{name}.{axis}": "1u" for name in ("ntid", "nctaid") for axis in "yz"},
}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_COMPARISONS |= {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_NEGATED = {"neu": "==", "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
_SHUFFLES = {"up": 0, "down": 1, "bfly": 2, "idx": 3}
_BINARY = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}


def _unsigned(kind: str) -> str:
    """The type in which sums and products are computed: those of signed numbers must not overflow in C++."""
    return kind if kind[0] in "fp" else "u" + kind[1:]


class Names:
    """What the names of a function stand for."""

    def __init__(self, symbols: dict[str, int | None]) -> None:
        self.scopes: list[dict[str, str]] = [{}]  # types of registers, for each brace around the statement
        self.symbols = symbols  # shared memory: its offset, or None if it is the dynamic one
        self.parameters: dict[str, tuple[str, int]] = {}  # C++ of the place, and the size in bytes
        self.result: str | None = None

    def is_register(self, text: str) -> bool:
        return any(text in scope for scope in self.scopes)

    def register(self, text: str) -> str:
        """The C++ variable of a register."""
        if not self.is_register(text):
            raise Unknown(f"register {text}")
        return f"R_{text.lstrip('%')}"

    def read(self, text: str, kind: str) -> str:
        """An operand, as a type."""
        cpp = CPP_TYPES[kind]
        if self.is_register(text):
            return f"as<{cpp}>({self.register(text)})"
        if text in _SPECIAL:
            return f"({cpp})({_SPECIAL[text]})"
        if found := re.fullmatch(r"0[dD]([0-9A-Fa-f]{16})", text):
            return f"as<{cpp}>(uint64_t{{0x{found[1]}}})"  # the bits of a double, whatever the type
        if re.fullmatch(r"-?(\d+|0[xX][0-9A-Fa-f]+)U?", text) and kind != "f64":
            value = int(text.rstrip("U"), 0)
            if kind == "pred":
                return "true" if value else "false"
            return f"({cpp})(uint64_t{{{value & (1 << 64) - 1}u}})"
        if text in self.symbols:
            offset = self.symbols[text]
            return f"({cpp})({'t.launch().dynamic_begin()' if offset is None else offset})"
        raise Unknown(f"operand {text}")

    def write(self, text: str, value: str) -> str:
        """A statement that stores a value in a register."""
        return f"(void)({value});" if text == "_" else f"put({self.register(text)}, {value});"

    def address(self, text: str) -> str:
        found = re.fullmatch(r"\[([%\w$]+)(?:\+(-?\d+))?\]", text)
        if found is None:
            raise Unknown(f"address {text}")
        base, offset = found[1], int(found[2] or 0)
        if self.is_register(base):
            register = self.register(base)
            # Addresses of 32 bits wrap around as such.
            return f"(uint64_t)({register} + (decltype({register}))({offset}LL))"
        return f"(uint64_t)({self.read(base, 'u64')} + {offset})"

    def parameter(self, text: str, kind: str) -> str:
        """The place of a whole parameter."""
        name = text.strip("[]").removesuffix("+0")
        if name not in self.parameters or self.parameters[name][1] != BYTES[kind]:
            raise Unknown(f"parameter {text}")
        return self.parameters[name][0]


def cpp_of(names: Names, opcode: str, operands: str, site: int) -> str:
    """The C++ statements of an instruction other than a call; ``site`` is its number among the accesses to memory."""
    name, *suffixes = opcode.split(".")
    made = _MAKERS.get(name)
    if made is None:
        raise Unknown(f"instruction {opcode}")
    try:
        return made(names, suffixes, split_operands(operands), site)
    except (KeyError, ValueError, IndexError) as error:
        raise Unknown(f"{opcode} {operands}: {error!r}") from error


def _require(condition: bool, suffixes: list[str]) -> None:
    if not condition:
        raise Unknown(f"suffixes {suffixes}")


def _operator(names: Names, symbol: str, kind: str, args: list[str]) -> str:
    computed = _unsigned(kind)
    a, b = (names.read(x, computed) for x in args[1:3])
    return names.write(args[0], f"({CPP_TYPES[computed]})({a} {symbol} {b})")


def _binary(symbol: str) -> _Maker:
    def made(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
        *rounding, kind = suffixes
        _require(rounding == [] or (rounding == ["rn"] and kind == "f64"), suffixes)
        return _operator(names, symbol, kind, args)

    return made


def _applied(form: str, *allowed: str, kinds: tuple[str, ...] = ("",)) -> _Maker:
    """A function of operands. ``allowed`` are the possible suffixes; an empty kind is that of the instruction."""

    def made(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
        _require(".".join(suffixes) in allowed, suffixes)
        values = (names.read(x, kind or suffixes[-1]) for x, kind in zip(args[1:], kinds, strict=True))
        return names.write(args[0], form.format(*values, site=site))

    return made


def _mul(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    kind = suffixes[-1]
    if kind == "f64":
        return _binary("*")(names, suffixes, args, site)
    part, _ = suffixes
    if part == "lo":
        return _operator(names, "*", kind, args)
    a, b = (names.read(x, kind) for x in args[1:3])
    if part == "wide":
        wide = CPP_TYPES[kind[0] + str(2 * int(kind[1:]))]
        return names.write(args[0], f"({wide})(({wide}){a} * ({wide}){b})")
    wide, bits = {"u64": ("unsigned __int128", 64), "u32": ("uint64_t", 32)}[kind]
    _require(part == "hi", suffixes)
    return names.write(args[0], f"({CPP_TYPES[kind]})((({wide}){a} * ({wide}){b}) >> {bits})")


def _mad(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    part, kind = suffixes
    _require(part == "lo", suffixes)
    computed = _unsigned(kind)
    product = f"({names.read(args[1], computed)} * {names.read(args[2], computed)})"
    total = f"as<{CPP_TYPES[computed]}>{product} + {names.read(args[3], computed)}"
    return names.write(args[0], f"({CPP_TYPES[computed]})({total})")


def _neg(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    (kind,) = suffixes
    computed = _unsigned(kind)
    return names.write(args[0], f"({CPP_TYPES[computed]})(-{names.read(args[1], computed)})")


def _not(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    (kind,) = suffixes
    operand = names.read(args[1], kind)
    return names.write(args[0], f"(!{operand})" if kind == "pred" else f"({CPP_TYPES[kind]})(~{operand})")


def _cvt(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    *rounding, to, of = suffixes
    _require(rounding == (["rn"] if to == "f64" else []) and of != "f64", suffixes)
    return names.write(args[0], f"({CPP_TYPES[to]}){names.read(args[1], of)}")


def _cvta(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    offset = {"to.global.u64": "", "to.shared.u64": " - kSharedWindow", "shared.u64": " + kSharedWindow"}
    return names.write(args[0], f"({names.read(args[1], 'u64')}{offset['.'.join(suffixes)]})")


def _mov(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    (kind,) = suffixes
    to, of = args
    if "{" not in to + of:
        return names.write(to, names.read(of, kind))
    bits = 4 * BYTES[kind]
    half = f"u{bits}"
    if to.startswith("{"):
        low, high = split_operands(to[1:-1])
        first = f"auto v_ = {names.read(of, kind)}; {names.write(low, f'({CPP_TYPES[half]})v_')}"
        return first + names.write(high, f"({CPP_TYPES[half]})(v_ >> {bits})")
    low, high = split_operands(of[1:-1])
    whole = CPP_TYPES[kind]
    joined = f"{names.read(low, half)} | ({whole}){names.read(high, half)} << {bits}"
    return names.write(to, f"({whole})({joined})")


def _setp(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    compare, kind = suffixes
    _require("|" not in args[0], suffixes)
    a, b = (names.read(x, kind) for x in args[1:3])
    if kind == "f64":  # comparisons that are true of NaN, and others
        _require(compare != "ne", suffixes)
        if compare in _NEGATED:
            return names.write(args[0], f"!({a} {_NEGATED[compare]} {b})")
    return names.write(args[0], f"({a} {_COMPARISONS[compare]} {b})")


def _access(suffixes: list[str]) -> tuple[str, int, str, str]:
    """State space, number of values, their type, and whether the access is volatile, as C++."""
    is_volatile = "volatile" in suffixes
    left = [suffix for suffix in suffixes if suffix != "volatile"]
    space = _SPACES[left.pop(0)] if left[0] in _SPACES else "kGeneric"
    count = int(left.pop(0)[1]) if re.fullmatch(r"v[24]", left[0]) else 1
    _require(len(left) == 1, suffixes)
    return space, count, left[0], str(is_volatile).lower()


def _values(text: str, count: int) -> list[str]:
    values = split_operands(text[1:-1]) if text.startswith("{") else [text]
    if len(values) != count:
        raise Unknown(text)
    return values


def _ld(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    space, count, kind, is_volatile = _access(suffixes)
    cpp = CPP_TYPES[kind]
    if space == "kParam":
        return names.write(args[0], f"from_memory<{cpp}>({names.parameter(args[1], kind)})")
    writes = "".join(names.write(x, f"v_[{k}]") for k, x in enumerate(_values(args[0], count)))
    call = f"t.load<{space}, {is_volatile}>(v_, {names.address(args[1])}, {site})"
    return f"{cpp} v_[{count}]; {call}; {writes}"


def _st(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    space, count, kind, is_volatile = _access(suffixes)
    cpp = CPP_TYPES[kind]
    if space == "kParam":
        return f"to_memory<{cpp}>({names.parameter(args[0], kind)}, {names.read(args[1], kind)});"
    listed = ", ".join(names.read(x, kind) for x in _values(args[1], count))
    call = f"t.store<{space}, {is_volatile}>(v_, {names.address(args[0])}, {site})"
    return f"{cpp} v_[{count}] = {{{listed}}}; {call};"


def _atom(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    left = [suffix for suffix in suffixes if suffix not in ("relaxed", "gpu")]
    space = _SPACES[left.pop(0)] if left[0] in _SPACES else "kGeneric"
    operation, kind = left
    where = names.address(args[1])
    values = ", ".join(names.read(x, kind) for x in args[2:])
    _require((operation, len(args)) in {("add", 3), ("cas", 4)}, suffixes)
    call = f"t.atomic_{operation}<{space}, {CPP_TYPES[kind]}>({where}, {values}, {site})"
    return names.write(args[0], call)


def _red(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    return _atom(names, suffixes, ["_", *args], site)


def _bar(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    left = [suffix for suffix in suffixes if suffix not in ("cta", "aligned")]
    if left == ["warp", "sync"]:
        return f"t.warp_sync({names.read(args[0], 'u32')}, {site});"
    _require(left == ["sync"], suffixes)
    count = names.read(args[1], "u32") if len(args) > 1 else "0u"
    return f"t.barrier({names.read(args[0], 'u32')}, {count}, {site});"


def _shfl(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    sync, mode, kind = suffixes
    _require((sync, kind) == ("sync", "b32"), suffixes)
    to, _, valid = args[0].partition("|")
    values = ", ".join(names.read(x, "u32") for x in args[1:5])
    call = f"auto v_ = t.shuffle({_SHUFFLES[mode]}, {values}, {site}); {names.write(to, 'v_.value')}"
    return call + (names.write(valid, "v_.valid") if valid else "")


def _bra(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    _require(suffixes in ([], ["uni"]), suffixes)
    return f"goto {args[0][1:]};"


def _ret(names: Names, suffixes: list[str], args: list[str], site: int) -> str:
    return f"return {names.result};" if names.result else "return;"


_Maker = Callable[[Names, list[str], list[str], int], str]

_MAKERS: dict[str, _Maker] = {
    **{name: _binary(symbol) for name, symbol in _BINARY.items()},
    "abs": _applied("__builtin_fabs({})", "f64"),
    "atom": _atom,
    "bar": _bar,
    "barrier": _bar,
    "bfi": _applied("bits_inserted({}, {}, {}, {})", "b32", "b64", kinds=("", "", "u32", "u32")),
    "bfind": _applied("({0} ? leading_zeros({0}) : ~0u)", "shiftamt.u32", kinds=("u32",)),
    "bra": _bra,
    "brev": _applied("bit_reversed({})", "b32", "b64"),
    "clz": _applied("leading_zeros({})", "b32", "b64"),
    "cvt": _cvt,
    "cvta": _cvta,
    "div": _applied("(double)({} / {})", "rn.f64", kinds=("", "")),
    "fma": _applied("__builtin_fma({}, {}, {})", "rn.f64", kinds=("", "", "")),
    "ld": _ld,
    "mad": _mad,
    "max": _applied("({0} > {1} ? {0} : {1})", *_INTEGERS, kinds=("", "")),
    "min": _applied("({0} < {1} ? {0} : {1})", *_INTEGERS, kinds=("", "")),
    "mov": _mov,
    "mul": _mul,
    "neg": _neg,
    "not": _not,
    "popc": _applied("(uint32_t)__builtin_popcountll({})", "b32", "b64"),
    "rcp": _applied("(1.0 / {})", "rn.f64"),
    "red": _red,
    "ret": _ret,
    "selp": _applied("({2} ? {0} : {1})", *BYTES, kinds=("", "", "pred")),
    "setp": _setp,
    "shfl": _shfl,
    "shl": _applied("shifted_left({}, {})", *_INTEGERS, kinds=("", "u32")),
    "shr": _applied("shifted_right({}, {})", *_INTEGERS, kinds=("", "u32")),
    "sqrt": _applied("__builtin_sqrt({})", "rn.f64"),
    "st": _st,
    "vote": _applied("t.ballot({}, {}, {site})", "sync.ballot.b32", kinds=("pred", "u32")),
}
