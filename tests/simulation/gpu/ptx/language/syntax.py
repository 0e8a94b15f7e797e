"""Splits the text of a PTX module into functions, and these into statements."""

import re
from dataclasses import dataclass, field


class Unknown(NotImplementedError):
    """PTX that the translation does not know. Nothing is guessed."""


@dataclass(frozen=True)
class Statement:
    """A statement: without its semicolon, or "{", "}", or a label with its colon."""

    line: int  # its line in the module
    text: str  # the text, with single spaces


@dataclass
class Function:
    """A kernel, or a function that it calls."""

    name: str
    is_entry: bool  # whether it is a kernel
    max_threads: int  # the number of threads per block for which a kernel was compiled
    result: tuple[str, str] | None  # type and name of the result; None if there is none
    parameters: list[tuple[str, str]]  # types and names
    body: list[Statement]  # the statements between its braces


@dataclass
class Module:
    """The functions of a module, and the names of its dynamic shared memory."""

    functions: list[Function] = field(default_factory=list)
    dynamic_shared: set[str] = field(default_factory=set)


_PARAMETER = re.compile(
    r"\.param \.(\w+) (?:\.ptr )?(?:\.(?:global|const) )?(?:\.align \d+ )?([\w$]+)(\[\d+\])?"
)


def parse(ptx: str) -> Module:
    """Reads a module."""
    module, statements, k = Module(), _statements(ptx), 0
    while k < len(statements):
        text = statements[k].text
        if _is_head(text) and k + 1 < len(statements) and statements[k + 1].text == "{":
            end, depth = k + 2, 1
            while depth:
                depth += {"{": 1, "}": -1}.get(statements[end].text, 0)
                end += 1
            module.functions.append(_function(text, statements[k + 2 : end - 1]))
            k = end
            continue
        if found := re.search(r"\.extern \.shared .*?([\w$]+)\[\]", text):
            module.dynamic_shared.add(found[1])
        k += 1
    return module


def split_operands(text: str) -> list[str]:
    """Operands, which commas separate outside of brackets.

    Examples:
        >>> split_operands("{%r1, %r2}, [%rd3+8]")
        ['{%r1, %r2}', '[%rd3+8]']
    """
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "{[(") - (c in "}])")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return [*parts, current.strip()] if current.strip() else parts


def _is_head(text: str) -> bool:
    return re.search(r"\.(entry|func)\b", text) is not None


def _function(head: str, body: list[Statement]) -> Function:
    found = re.search(r"\.(?:entry|func)\s*(\([^)]*\))?\s*([\w$]+)\s*\(([^)]*)\)", head)
    if found is None:
        raise Unknown(head)
    result = [kind[:2] for kind in _PARAMETER.findall(found[1] or "")]
    parameters = _PARAMETER.findall(found[3])
    if any(size for *_, size in parameters):
        raise Unknown(f"a parameter that is an array: {head}")
    threads = re.search(r"\.maxntid (\d+)", head)
    return Function(
        name=found[2],
        is_entry=".entry" in head,
        max_threads=int(threads[1]) if threads else 1024,
        result=result[0] if result else None,
        parameters=[(kind, name) for kind, name, _ in parameters],
        body=body,
    )


def _statements(ptx: str) -> list[Statement]:
    result: list[Statement] = []
    line, start, buffer = 1, 0, ""

    def end_with(text: str) -> None:
        nonlocal buffer
        result.append(Statement(start, " ".join(text.split())))
        buffer = ""

    for c in re.sub(r"//[^\n]*", "", ptx):
        line += c == "\n"
        if not buffer.strip():
            buffer, start = "", line
            if c in "{}":
                end_with(c)
                continue
        if c == ";":
            end_with(buffer)
        elif c == ":" and re.fullmatch(r"\s*\$\w+", buffer):
            end_with(buffer + ":")
        elif c == "{" and _is_head(buffer):
            end_with(buffer)
            start = line
            end_with(c)
        elif c == "\n" and re.match(r"\s*\.(version|target|address_size|loc|file|section)\b", buffer):
            buffer = ""
        else:
            buffer += c
    return result
