"""URLs of Crumble, Stim's editor of circuits, that show T gates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import stim

from ...base.written_circuits import instructions_in
from ..rewriting.stand_ins import drawable_proxy, is_t_gate

_DRAWN = re.compile(r"(?<=[;=])(?P<gate>SPP|S)(?P<dag>_DAG)?(?=_)")


def crumble_url(circuit: stim.Circuit, *, skip_detectors: bool, mark: Any) -> str:
    """The URL of the S-proxy of a tagged circuit, with tags on the gates that stand for T gates.

    Stim writes the URL without tags. It has one entry for each instruction, in their order, so that the S and
    SPP in it are told apart by counting.
    """
    proxy, tagged = drawable_proxy(circuit), drawable_proxy(circuit, keeps_t_gates=True)
    if mark:
        _check_marks(mark)
        if len(proxy) != len(tagged):
            # The proxy has joined an S that stands for a T with the S gates beside it. Marks count the
            # instructions of the proxy, so that it is drawn as it is.
            tagged = proxy
    url: str = tagged.to_crumble_url(skip_detectors=skip_detectors, mark=mark)
    pieces, end = [], 0
    drawn = [part for part in instructions_in(tagged) if part.name in ("S", "S_DAG", "SPP", "SPP_DAG")]
    for found, part in zip(_DRAWN.finditer(url), drawn, strict=True):
        if is_t_gate(part):
            pieces += [url[end : found.start()], f"{found['gate']}[T{found['dag'] or ''}]"]
            end = found.end()
    return "".join([*pieces, url[end:]])


def _check_marks(mark: Any) -> None:
    errors = [error for each in mark.values() for error in each] if isinstance(mark, Mapping) else []
    for error in errors:
        if any(len(location.stack_frames) > 1 for location in error.circuit_error_locations[:1]):
            raise ValueError(
                "mark has an error in a REPEAT block, where Stim writes URLs that Crumble cannot read. Search"
                " and draw the unrolled circuit, circuit.flattened()."
            )
