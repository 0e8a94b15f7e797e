"""The desaturated matching graph of grafted codes, written down once more: both bases in one error model."""

from collections.abc import Iterator

import stim

CULTIVATION = -9
"""The fifth coordinate of detectors of cultivation; those without it are of cultivation, too."""

BASES = "XXXZZZXZ"
COLORS = "rgbrgb__"
"""By the fifth coordinate of other detectors: the last two are not of the color code."""


def kinds(detectors: stim.Circuit | stim.DetectorErrorModel) -> dict[int, int]:
    """The fifth coordinate of each detector."""
    places = detectors.get_detector_coordinates()
    return {k: int(place[4]) if len(place) > 4 else CULTIVATION for k, place in places.items()}


def hidden_detectors(model: stim.DetectorErrorModel) -> frozenset[int]:
    """The postselected detectors that the decoder need not know.

    They are those of cultivation, and both ends of errors that flip two detectors of one basis and the
    observable.
    """
    kind = kinds(model)
    found = {k for k in kind if kind[k] == CULTIVATION}
    for _, detectors, flips in errors(model):
        bases = {"!" if kind[k] == CULTIVATION else BASES[kind[k]] for k in detectors}
        if flips and len(detectors) == 2 and len(bases) == 1:
            found |= detectors
    return frozenset(found)


def errors(model: stim.DetectorErrorModel) -> Iterator[tuple[float, frozenset[int], bool]]:
    """The probability of each error, the detectors that it flips, and whether it flips the observable."""
    for error in model.flattened():
        if error.type == "error":
            detectors: frozenset[int] = frozenset()
            flips = False
            for target in error.targets_copy():
                if target.is_relative_detector_id():
                    detectors ^= {target.val}
                flips ^= target.is_logical_observable_id()
            yield error.args_copy()[0], detectors, flips


def pair_model(model: stim.DetectorErrorModel) -> stim.DetectorErrorModel:
    """The model of the matching graph, in which the nodes of pairs are further detectors."""
    kind = kinds(model)
    hidden = hidden_detectors(model)
    known = [error for error in errors(model) if not error[1] & hidden]
    alone = {half: flips for _, half, flips in known if len({BASES[kind[k]] for k in half}) == 1}
    nodes: dict[frozenset[int], int] = {}
    found = stim.DetectorErrorModel()
    for p, detectors, flips in known:
        halves = [frozenset(k for k in detectors if BASES[kind[k]] == basis) for basis in "XZ"]
        halves = [half for half in halves if half]
        if not alone.keys() >= set(halves) or sum(alone[half] for half in halves) % 2 != flips:
            continue  # it is not known which half flips the observable
        for half in halves:
            for edge in _edges(half, {k: COLORS[kind[k]] for k in half}):
                ends = [
                    end if isinstance(end, int) else nodes.setdefault(end, model.num_detectors + len(nodes))
                    for end in edge
                ]
                targets = [stim.target_relative_detector_id(k) for k in ends]
                targets += [stim.target_logical_observable_id(0)] * alone[half]
                found.append("error", p, targets)
    return found


def _edges(half: frozenset[int], colors: dict[int, str]) -> Iterator[list[int | frozenset[int]]]:
    """The edges of an error in one basis: one or two ends, which are detectors or pairs of them."""
    if len(half) <= 2:
        yield [*half]
        if len(half) == 2 and len({*colors.values()} - {"_"}) == 2:
            yield [half]  # at the side of the color code
    elif len(half) == 3 and {*colors.values()} == {*"rgb"}:
        for k in half:
            yield [k, half - {k}]
