"""URLs of Crumble, Stim's editor of circuits, that show T gates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import stim

from ...dialect import gate_from_tag
from ..rewriting.replacement import with_replaced
from ..rewriting.stand_ins import as_stim_reads, drawable_proxy, stand_in

__all__ = ["crumble_url", "shown_by_crumble"]

_DRAWN = re.compile(r"(?<=[;=])(?P<gate>SPP|S)(?P<dag>_DAG)?(?=_)")


def crumble_url(circuit: stim.Circuit, *, skip_detectors: bool, mark: Any) -> str:
    r"""The URL of the S-proxy of a tagged circuit, with tags on the gates that stand for T gates.

    Stim writes the URL without tags. It has one entry for each instruction, in their order, so that the S and
    SPP in it are told apart by counting.

    Examples:
        >>> crumble_url(stim.Circuit("S 0\nSPP_DAG[T] X0*X1"), skip_detectors=True, mark=None)
        'https://algassert.com/crumble#circuit=S_0;SPP[T_DAG]_X0*X1_'
    """
    proxy, tagged = drawable_proxy(circuit), shown_by_crumble(circuit)
    if mark:
        _check_marks(mark)
        if len(proxy) != len(tagged):
            # The proxy has joined an S that stands for a T with the S gates beside it. Marks count the
            # instructions of the proxy, so that it is drawn as it is.
            tagged = proxy
    url: str = tagged.to_crumble_url(skip_detectors=skip_detectors, mark=mark)
    pieces, end = [], 0
    for found, is_t in zip(_DRAWN.finditer(url), _which_are_t(tagged), strict=True):
        if is_t:
            pieces += [url[end : found.start()], f"{found['gate']}[T{found['dag'] or ''}]"]
            end = found.end()
    return "".join([*pieces, url[end:]])


def shown_by_crumble(circuit: stim.Circuit) -> stim.Circuit:
    r"""The S-proxy of a tagged circuit, with T gates as tagged S.

    Examples:
        >>> print(shown_by_crumble(stim.Circuit("S[T] 0\nI[R_Z(theta=0.1*pi)] 0")))
        S[T] 0
        I 0
    """
    return with_replaced(circuit, _with_tag)


def _check_marks(mark: Any) -> None:
    errors = [error for each in mark.values() for error in each] if isinstance(mark, Mapping) else []
    for error in errors:
        if any(len(location.stack_frames) > 1 for location in error.circuit_error_locations[:1]):
            raise ValueError(
                "mark has an error in a REPEAT block, where Stim writes URLs that Crumble cannot read. Search"
                " and draw the unrolled circuit, circuit.flattened()."
            )


def _is_t(part: stim.CircuitInstruction) -> bool:
    gate = gate_from_tag(part)
    return gate is not None and gate.definition.takes_note


def _with_tag(part: stim.CircuitInstruction) -> stim.Circuit | None:
    """The stand-in of an instruction; a T gate stays as it is, which Stim draws as S."""
    if _is_t(part):
        return None
    try:
        return stand_in(part, "s_proxy")
    except ValueError:
        return as_stim_reads(part)


def _which_are_t(circuit: stim.Circuit) -> Iterator[bool]:
    """For each S and SPP, in the order of the text, whether it is a T gate."""
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            yield from _which_are_t(part.body_copy())
        elif part.name in ("S", "S_DAG", "SPP", "SPP_DAG"):
            yield _is_t(part)
