"""Translates the PTX of a kernel to C++ that runs on the host with the headers in ``runtime``.

A thread of the GPU is a fibre: the kernel is one C++ function with a variable for each register.
"""

import re
from dataclasses import dataclass, field

from .instructions import BYTES, CPP_TYPES, SYNCHRONIZING, Names, cpp_of
from .syntax import Function, Statement, Unknown, parse, split_operands


@dataclass(frozen=True)
class Site:
    """An instruction that accesses memory or synchronizes: its line and its text."""

    line: int
    text: str


@dataclass
class Kernel:
    """A translated kernel."""

    name: str
    max_threads: int  # number of threads per block for which it was compiled
    cpp: str = ""  # the C++ source
    params: list[int] = field(default_factory=list)  # size of each parameter in bytes
    static_shared: int = 0  # bytes of static shared memory
    sites: list[Site] = field(default_factory=list)  # the instructions that access memory or synchronize


def translate(ptx: str) -> Kernel:
    """Translates a module with one kernel."""
    module = parse(ptx)
    entries = [function for function in module.functions if function.is_entry]
    if len(entries) != 1:
        raise Unknown(f"{len(entries)} kernels")
    kernel = Kernel(entries[0].name, entries[0].max_threads)
    symbols: dict[str, int | None] = dict.fromkeys(module.dynamic_shared)
    called: dict[str, list[str]] = {}
    out = ['#include "runtime.h"\n']
    for function in sorted(module.functions, key=lambda function: function.is_entry):
        out += _Translation(kernel, function, symbols, called).lines
    counts = f"kNumSites = {len(kernel.sites)}, kStaticShared = {kernel.static_shared}"
    out.append(f"static const uint32_t {counts};\nPTX_EXPORTS()\n")
    kernel.cpp = "\n".join(out)
    return kernel


class _Translation:
    """Of a function. ``lines`` is its C++."""

    def __init__(
        self, kernel: Kernel, function: Function, symbols: dict[str, int | None], called: dict[str, list[str]]
    ) -> None:
        self.kernel, self.function, self.called = kernel, function, called
        self.names = Names(symbols)
        self.lines: list[str] = []
        self.opcodes: list[str] = []
        self._head()
        for statement in function.body:
            try:
                self._statement(statement)
            except Unknown as error:
                raise Unknown(f"line {statement.line}: {statement.text}: {error}") from None
        called[function.name] = self.opcodes
        self.lines.append("  ;\n}\n")

    def _head(self) -> None:
        function, names, kernel = self.function, self.names, self.kernel
        if function.is_entry:
            offset = 0
            for kind, name in function.parameters:
                size = BYTES[kind]
                offset = -(-offset // size) * size
                names.parameters[name] = (f"(t.params() + {offset})", size)
                kernel.params.append(size)
                offset += size
            self.lines.append("static void ptx_kernel(Thread& t) {")
            return
        names.parameters = {name: (f"(&{name})", BYTES[kind]) for kind, name in function.parameters}
        arguments = "".join(f", {CPP_TYPES[kind]} {name}" for kind, name in function.parameters)
        result = CPP_TYPES[function.result[0]] if function.result else "void"
        self.lines.append(f"static {result} {function.name}(Thread& t{arguments}) {{")
        if function.result:
            kind, names.result = function.result
            self.lines.append(f"  {result} {names.result};")
            names.parameters[names.result] = (f"(&{names.result})", BYTES[kind])

    def _statement(self, statement: Statement) -> None:
        text, scopes = statement.text, self.names.scopes
        if text.endswith(":"):
            self.lines.append(f" {text[1:]};")
        elif text == "{":
            self.lines.append("  {")
            scopes.append({})
        elif text == "}":
            self.lines.append("  }")
            scopes.pop()
        elif text.startswith("."):
            self._directive(text)
        else:
            self._instruction(statement)

    def _directive(self, text: str) -> None:
        names = self.names
        if found := re.fullmatch(r"\.reg \.(\w+) (%?\w+)(?:<(\d+)>)?", text):
            kind, stem, count = found.groups()
            registers = [f"{stem}{k}" for k in range(int(count))] if count else [stem]
            names.scopes[-1] |= dict.fromkeys(registers, kind)
            variables = ", ".join(map(names.register, registers))
            self.lines.append(f"  {CPP_TYPES[kind]} {variables};")
        elif found := re.fullmatch(r"\.param \.(\w+) ([\w$]+)", text):
            names.parameters[found[2]] = (f"(&{found[2]})", BYTES[found[1]])
            self.lines.append(f"  {CPP_TYPES[found[1]]} {found[2]};")
        elif found := re.fullmatch(r"\.shared \.align (\d+) \.b8 ([\w$]+)\[(\d+)\]", text):
            align, size = int(found[1]), int(found[3])
            offset = -(-self.kernel.static_shared // align) * align
            names.symbols[found[2]] = offset
            self.kernel.static_shared = offset + size
        elif not text.startswith(".pragma "):
            raise Unknown("directive")

    def _instruction(self, statement: Statement) -> None:
        text, guard = statement.text, ""
        if found := re.match(r"@(!?)(%?\w+)\s+", text):
            guard = f"if ({found[1]}{self.names.register(found[2])}) "
            text = text[found.end() :]
        opcode, _, operands = text.partition(" ")
        name, *suffixes = opcode.split(".")
        site = -1
        if (name in ("ld", "st") and suffixes[0] != "param") or name in SYNCHRONIZING:
            site = len(self.kernel.sites)
            self.kernel.sites.append(Site(statement.line, text))
        self.opcodes.append(opcode)
        made = self._call(operands) if name == "call" else cpp_of(self.names, opcode, operands, site)
        self.lines.append(f"  {guard}{{ {made} }}")

    def _call(self, operands: str) -> str:
        *result, name, arguments = split_operands(operands)
        if name not in self.called:
            raise Unknown(f"function {name}")
        if any(op.startswith(("bra", "ld.g", "ld.s", "bar", "call")) for op in self.called[name]):
            raise Unknown(f"a function that branches, or uses memory: {name}")
        call = f"{name}(t, {', '.join(split_operands(arguments[1:-1]))});"
        return f"{result[0][1:-1]} = {call}" if result else call
