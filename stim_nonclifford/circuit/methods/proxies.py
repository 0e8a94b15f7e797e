"""Clifford proxies of a circuit, and what Stim computes from them."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any

import stim

from ...base.arguments import choice, flag, integer, integer_or_none, iterable
from ...base.memory import memory_is_a_limit
from ...base.notebook import Diagram, preformatted, scrolled
from ...base.stim_refusals import is_of_random_outputs, random_outputs
from ...dialect import extended_text, without_noise
from ...simulation.compiler.sweeps.clifford_records import without_gaps
from ..diagrams import diagram_type, labelled_diagram
from ..diagrams.crumble import crumble_url
from ..diagrams.folded import folded_timeline, is_long
from ..diagrams.svg import on_white
from ..rewriting.leakage import with_averaged_leakage
from ..rewriting.replacement import with_replaced
from ..rewriting.stand_ins import Proxy, drawable_proxy, stand_in
from ..rewriting.three_qubit_errors import check_chains
from .editing import check_flattened

__all__ = ["CircuitProxies"]

_MOST_DRAWN = 600
_MOST_ROWS = 64
_MOST_LINES = 60
"""Limits of what a notebook shows by itself: targets and qubits of a picture, and lines of a text."""
_MOST_TICKS = (1 << 63) - 1
_MOST_QUANTIZATION = (1 << 31) - 1


_DEPRECATED = {"append_operation": "append", "flattened_operations": "flattened"}
"""Methods that Stim has under other names now."""


class CircuitProxies:
    """Clifford proxies, Stim's analyses of the S-proxy, and methods that do not depend on gates.

    Methods whose description names the S-proxy treat T as S. Their results hold for the circuit
    itself only where T and S behave alike, for example for which detectors a fault flips.

    Raises:
        ResourceLimitError: A method needs the unrolled circuit, and that is too large.
    """

    _stim: stim.Circuit

    def s_proxy(self) -> stim.Circuit:
        r"""The Clifford circuit with S in place of T.

        * T is S, TPP is SPP. CS, CT, CH, CCZ and CCX, controlled by qubits, are the identity.
        * A rotation by an angle (R_X, R_ZZ, R_PAULI, ...) counts as the nearest one by a multiple of 0.25
          half-turns. Multiples of 0.5 are Clifford gates and stand for themselves: R_X(0.5) is SQRT_X.
          Odd multiples of 0.25 are like T, and become the nearest odd multiple of 0.5: R_Z(0.25) and
          R_Z(0.75) are S, R_Z(-0.25) is S_DAG. So R_X(0.1) is the identity, and R_X(0.52) is SQRT_X: coherent
          noise of up to 0.125 half-turns is left out.
        * U3 is three rotations, each by this rule. Where it is a Clifford gate, it is that gate.
        * In place of S controlled by a record, there is Z controlled by the record: the correction of a
          teleported S, as S is that of a teleported T. The same holds for C_SPP of a product of Z. A
          controlled rotation by one half-turn is a product of controlled Paulis.

        Stim itself, given ``to_stim()``, ignores tags. It reads T in the same way, but all rotations about
        single qubits as the identity, and all about products as SPP.

        Raises:
            ValueError: A record controls another gate, for which Z is no stand-in.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("H 0\nT 0\nR_Z(0.1) 0\nR_X(-0.5) 0\nTPP X0*X1").s_proxy())
            H 0
            S 0
            I 0
            SQRT_X_DAG 0
            SPP X0*X1
            >>> print(snc.Circuit("M 0\nC_SPP rec[-1] Z1*Z2").s_proxy())
            M 0
            CZ rec[-1] 1 rec[-1] 2
        """
        return self._proxy("s_proxy")

    def i_proxy(self) -> stim.Circuit:
        r"""The circuit with every non-Clifford gate replaced by the identity.

        Rotations by multiples of 0.5 half-turns are Clifford gates, and stay. So do those that are nearer to
        one than 0.125 half-turns, as in ``s_proxy``, without the rest of the angle.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("H 0\nT 0\nR_X(0.5) 0\nS 0").i_proxy())
            H 0
            I 0
            SQRT_X 0
            S 0
        """
        return self._proxy("i_proxy")

    def _proxy(self, proxy: Proxy, *, flags: bool = False) -> stim.Circuit:
        check_chains(self._stim)
        circuit = with_averaged_leakage(self._stim, flags=flags)
        return with_replaced(circuit, lambda instruction: stand_in(instruction, proxy))

    def diagram(
        self,
        type: str = "timeline-text",
        *,
        tick: int | range | None = None,
        rows: int | None = None,
        filter_coords: Iterable[Any] | None = None,
        noise: bool = True,
        fold: bool | None = None,
    ) -> Diagram | Any:
        r"""A diagram, as ``stim.Circuit.diagram``, that shows T as T.

        Timelines and time slices (``timeline-text``, ``timeline-svg``, ``timeslice-svg``,
        ``detslice-with-ops-svg``) show every non-Clifford gate as what it is: with its controls, its angles
        (``0.1π`` is 0.1 half-turns) and the records that control it. In loops these are as written
        (``rec[-1]``), otherwise they have their numbers. ``interactive`` is Crumble with the circuit in it,
        with T as S with a tag. Detecting regions are those of the S-proxy, and so
        are diagrams of other types. SVGs have a white background.

        Args:
            type: One of Stim's types of diagrams.
            tick: In slices, the number of a TICK or a range of such numbers; 0 is the beginning.
            rows: In slices, the number of rows of pictures.
            filter_coords: In detector slices, what is shown: ``"D5"``, ``"L0"``, a ``stim.DemTarget``, or the
                first coordinates of detectors. The default is all detectors.
            noise: Whether to draw the noise, as Stim does. A timeline with noise on every gate is a long
                ribbon, and with ``noise=False`` it shows the protocol.
            fold: Whether a ``timeline-svg`` is wrapped into rows, with noise as small marks, detectors by
                their numbers, and loops unrolled. None: if it has no loop, and Stim's ribbon would be longer
                than two screens. ``fold=False`` draws the ribbon.

        Returns:
            A ``Diagram`` if it is a timeline as text or an SVG, else Stim's object. Both print as the
            diagram, and a notebook shows both as pictures.

        Raises:
            TypeError: An argument is of the wrong type.
            ValueError: Stim cannot draw it; or the type is a match graph, which is of noise, and ``noise`` is
                False.

        Examples:
            >>> import stim_nonclifford as snc
            >>> snc.Circuit("H 0\nT 0\nM 0").diagram()
            q0: -H-T-M:rec[0]-
            >>> snc.Circuit("H 0\nX_ERROR(0.1) 0\nM(0.1) 0").diagram(noise=False)
            q0: -H-M:rec[0]-
        """
        drawn_type = diagram_type(type)
        arguments: dict[str, Any] = {
            "tick": _checked_tick(tick),
            "rows": integer_or_none(rows, "rows", 0, _MOST_TICKS),
            "filter_coords": list(filter_coords) if isinstance(filter_coords, Iterable) else filter_coords,
        }
        if not flag(noise, "noise") and drawn_type.startswith("matchgraph"):
            raise ValueError(f"A {type} is drawn from noise. Leave out noise=False.")
        circuit = self._stim if noise else without_noise(self._stim)
        check_flattened(circuit)
        if fold is not None and flag(fold, "fold") and not drawn_type.startswith("timeline-svg"):
            raise ValueError(f"A {type} cannot be folded. Leave out fold=True.")
        if drawn_type.startswith("timeline-svg") and (is_long(circuit) if fold is None else fold):
            picture = on_white(folded_timeline(circuit))
            return Diagram(scrolled(picture) if drawn_type.endswith("-html") else picture)
        proxy = drawable_proxy(circuit)
        try:
            return labelled_diagram(circuit, proxy, drawn_type, **arguments)
        except ValueError as error:
            if proxy == circuit or not is_of_random_outputs(error):
                raise
            raise ValueError(
                f"Stim draws a {type} from the error model of the S-proxy, the circuit with S in place of T,"
                f" and refuses: {random_outputs(error)}. Other types of diagrams exist for every circuit."
            ) from error

    def _repr_html_(self) -> str:
        """A picture for notebooks, or text if the picture would be too large."""
        if _num_drawn(self._stim) <= _MOST_DRAWN and 0 < self._stim.num_qubits <= _MOST_ROWS:
            return scrolled(str(self.diagram("timeline-svg")))
        lines = extended_text(self._stim).split("\n")
        if len(lines) > _MOST_LINES:
            lines[_MOST_LINES:] = [f"... {len(lines) - _MOST_LINES} more lines"]
        return preformatted("\n".join(lines))

    @property
    def num_ticks(self) -> int:
        """Number of TICKs."""
        return self._stim.num_ticks

    @property
    def num_sweep_bits(self) -> int:
        """Number of sweep bits; they are 0 in all samplers, as in Stim's."""
        return self._stim.num_sweep_bits

    def get_detector_coordinates(self, only: Any = None) -> dict[int, list[float]]:
        """Coordinates of the detectors, as ``stim.Circuit.get_detector_coordinates``.

        Args:
            only: A detector, by its number or as ``stim.DemTarget``, or several; None: all of them.
        """
        only = _checked_detectors(only)
        if only is None:
            check_flattened(self._stim)
        with memory_is_a_limit():
            return self._stim.get_detector_coordinates(only)

    def get_final_qubit_coordinates(self) -> dict[int, list[float]]:
        """Coordinates of the qubits, as ``stim.Circuit.get_final_qubit_coordinates``."""
        return self._stim.get_final_qubit_coordinates()

    def count_determined_measurements(self, *, unknown_input: bool = False) -> int:
        """The number of measurements of the S-proxy whose outcome is determined."""
        unknown_input = flag(unknown_input, "unknown_input")
        return without_gaps(self.s_proxy()).count_determined_measurements(unknown_input=unknown_input)

    def detecting_regions(self, **arguments: Any) -> dict[stim.DemTarget, dict[int, stim.PauliString]]:
        """The sensitive regions of the S-proxy's detectors, as ``stim.Circuit.detecting_regions``."""
        return self._flat_s_proxy().detecting_regions(**arguments)

    def explain_detector_error_model_errors(self, **arguments: Any) -> list[stim.ExplainedError]:
        """The locations of errors in the S-proxy, as in Stim."""
        return self._of_s_proxy(lambda proxy: proxy.explain_detector_error_model_errors(**arguments))

    def shortest_graphlike_error(self, **arguments: Any) -> list[stim.ExplainedError]:
        """A shortest undetected logical error among the S-proxy's graphlike errors, as in Stim."""
        return self._of_s_proxy(lambda proxy: proxy.shortest_graphlike_error(**arguments))

    def search_for_undetectable_logical_errors(self, **arguments: Any) -> list[stim.ExplainedError]:
        """An undetected logical error of the S-proxy, found by Stim's heuristic search."""
        return self._of_s_proxy(lambda proxy: proxy.search_for_undetectable_logical_errors(**arguments))

    def shortest_error_sat_problem(self, *, format: str = "WDIMACS") -> str:
        """The fault distance of the S-proxy as a maxSAT problem, as in Stim.

        The solution is the distance of the circuit itself only where it has the detectors, observables and
        faults of its S-proxy; ``fault_distance`` counts faults of the circuit with its T gates.

        Args:
            format: The format of the problem; Stim knows WDIMACS.
        """
        format = choice(format, "format", ("WDIMACS",))
        problem: str = self._of_s_proxy(lambda proxy: proxy.shortest_error_sat_problem(format=format))
        return problem

    def likeliest_error_sat_problem(self, *, quantization: int = 100, format: str = "WDIMACS") -> str:
        """The likeliest undetected logical error of the S-proxy as a maxSAT problem, as in Stim.

        Args:
            quantization: The weight of the least likely error, in which all weights are rounded.
            format: The format of the problem; Stim knows WDIMACS.
        """
        quantization = integer(quantization, "quantization", 1, _MOST_QUANTIZATION)
        format = choice(format, "format", ("WDIMACS",))
        problem: str = self._of_s_proxy(
            lambda proxy: proxy.likeliest_error_sat_problem(quantization=quantization, format=format)
        )
        return problem

    def to_crumble_url(
        self, *, skip_detectors: bool = False, mark: dict[int, list[stim.ExplainedError]] | None = None
    ) -> str:
        r"""A URL that opens the circuit in Crumble, as ``stim.Circuit.to_crumble_url``, with T gates marked.

        Crumble edits Clifford circuits, and what it shows is the S-proxy: T and TPP are S and SPP with the
        tag T, which Crumble writes below the gate. T_DAG and TPP_DAG are S and SPP with the tag T_DAG, as
        Crumble's URLs have no room for a tag on S_DAG; what it draws has no signs, and is the same. Other
        gates are those of ``s_proxy()``; where that is not defined, Z stands for a gate that a record
        controls.

        Args:
            skip_detectors: Whether to leave out detectors, as in Stim.
            mark: Errors to highlight, as in Stim, for example ``{1: circuit.shortest_graphlike_error()}``.
                With marks, T gates have no tags if the S-proxy has joined one of them with an S beside it.

        Raises:
            ResourceLimitError: The unrolled circuit is too large.
            ValueError: A marked error is in a loop, for which Stim's URLs are wrong.

        Examples:
            >>> import stim_nonclifford as snc
            >>> snc.Circuit("H 0\nT 0\nS 0\nT_DAG 0").to_crumble_url()
            'https://algassert.com/crumble#circuit=H_0;S[T]_0;S_0;S[T_DAG]_0_'
        """
        check_flattened(self._stim)
        return crumble_url(self._stim, skip_detectors=flag(skip_detectors, "skip_detectors"), mark=mark)

    def missing_detectors(self, *, unknown_input: bool = False) -> stim.Circuit:
        """Detectors that could be added to the S-proxy, as ``stim.Circuit.missing_detectors``."""
        unknown_input = flag(unknown_input, "unknown_input")
        return without_gaps(self.s_proxy()).missing_detectors(unknown_input=unknown_input)

    def _of_s_proxy(self, search: Callable[[stim.Circuit], list[stim.ExplainedError]]) -> Any:
        """What Stim finds in the error model of the S-proxy.

        Raises:
            ValueError: A detector or an observable of the S-proxy is random.
        """
        proxy = self._flat_s_proxy()
        try:
            return search(proxy)
        except ValueError as error:
            if proxy == self._stim or not is_of_random_outputs(error):
                raise
            raise ValueError(
                "Stim searches the error model of the S-proxy, the circuit with S in place of T, and refuses:"
                f" {random_outputs(error)}. Search with T gates by circuit.fault_distance() and"
                " circuit.malignant_sets(), or search the error model"
                ' circuit.detector_error_model(kind="noise_only") by its own methods.'
            ) from error

    def _flat_s_proxy(self) -> stim.Circuit:
        """The S-proxy, after a check that Stim can unroll it in memory."""
        check_flattened(self._stim)
        return self.s_proxy()

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for undefined names. Those of Stim get a message with the alternative.
        if not name.startswith("_") and hasattr(stim.Circuit, name):
            if name in _DEPRECATED:
                raise AttributeError(
                    f"stim_nonclifford.Circuit has no {name}, which Stim has deprecated. Call"
                    f" circuit.{_DEPRECATED[name]}."
                )
            raise AttributeError(
                f"stim_nonclifford.Circuit has no {name}, as Stim would compute it from a Clifford proxy. If"
                f" you want that, call circuit.s_proxy().{name} or circuit.i_proxy().{name}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _checked_tick(tick: Any) -> int | range | None:
    """The argument ``tick`` of ``diagram``."""
    if not isinstance(tick, range):
        return integer_or_none(tick, "tick", 0, _MOST_TICKS)
    if not 0 <= tick.start < tick.stop <= _MOST_TICKS or tick.step != 1:
        raise ValueError(
            f"tick must be a number of a TICK or a range of such numbers, one after the other, such as"
            f" range(0, 2), but is {tick}. 0 is the beginning."
        )
    return tick


def _checked_detectors(only: Any) -> list[int | stim.DemTarget] | None:
    """The argument ``only``, as a list."""
    if only is None:
        return None
    wanted = "a detector or an iterable of detectors, each an integer or a stim.DemTarget, or None"
    is_one = isinstance(only, (numbers.Integral, stim.DemTarget))
    return [
        each if isinstance(each, stim.DemTarget) else integer(each, "Each of only")
        for each in ([only] if is_one else iterable(only, "only", wanted))
    ]


def _num_drawn(circuit: stim.Circuit) -> int:
    """Number of targets of a circuit as it is written."""
    return sum(
        _num_drawn(part.body_copy())
        if isinstance(part, stim.CircuitRepeatBlock)
        else max(1, len(part.targets_copy()))
        for part in circuit
    )
