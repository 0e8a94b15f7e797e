"""The bivariate bicycle code [[72,12,6]], decoded by BP+OSD, at noise of any strength.

    python -m examples.bivariate_bicycle
    python -m examples.bivariate_bicycle --rounds 3 --p 0.003 0.001 --shots 20000
    python -m examples.bivariate_bicycle --p 0.005 0.003 0.002 0.001 0.0005 --priors 0.002

Needs `pip install stimbposd`. The code is that of Bravyi et al., Nature 627, 778 (2024). Z checks are
measured, then X checks, six layers of CX each, and all noise is depolarizing or a flip of strength p. The
detectors are those of the Z checks, which see the errors that flip the observables.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
import numpy.typing as npt
import sinter
import stim

import stim_nonclifford as snc

Bits = npt.NDArray[np.uint8]

_SIDE = 6
_A = ((3, 0), (0, 1), (0, 2))
"""Exponents of x and y: A = x^3 + y + y^2."""
_B = ((0, 3), (1, 0), (2, 0))
"""B = y^3 + x + x^2."""


def checks() -> tuple[list[list[int]], list[list[int]]]:
    """The data qubits of each X check and of each Z check, in the order in which they are measured.

    Examples:
        >>> x_checks, z_checks = checks()
        >>> len(x_checks), len(z_checks), {len(check) for check in x_checks + z_checks}
        (36, 36, {6})
        >>> all(len({*x} & {*z}) % 2 == 0 for x in x_checks for z in z_checks)
        True
    """
    half = _SIDE * _SIDE

    def shifted(i: int, j: int, exponents: tuple[int, int], sign: int) -> int:
        return (i + sign * exponents[0]) % _SIDE * _SIDE + (j + sign * exponents[1]) % _SIDE

    x_checks, z_checks = [], []
    for i, j in itertools.product(range(_SIDE), repeat=2):
        x_checks.append([shifted(i, j, a, 1) for a in _A] + [half + shifted(i, j, b, 1) for b in _B])
        z_checks.append([shifted(i, j, b, -1) for b in _B] + [half + shifted(i, j, a, -1) for a in _A])
    return x_checks, z_checks


def logical_operators(x_checks: list[list[int]], z_checks: list[list[int]], qubits: int) -> list[list[int]]:
    """Z operators that commute with all X checks and are independent of each other and of the Z checks."""
    commuting = _kernel(_matrix(x_checks, qubits))
    basis = _Basis()
    for check in _matrix(z_checks, qubits):
        basis.add(check)
    return [np.flatnonzero(row).tolist() for row in commuting if basis.add(row)]


def bivariate_bicycle_memory(p: float, rounds: int) -> snc.Circuit:
    """A memory experiment in the Z basis with all twelve logical qubits.

    Args:
        p: The strength of the noise.
        rounds: The number of rounds of checks.

    Examples:
        >>> circuit = bivariate_bicycle_memory(0.001, 2)
        >>> circuit.num_qubits, circuit.num_detectors, circuit.num_observables
        (144, 108, 12)
    """
    x_checks, z_checks = checks()
    data = range(2 * _SIDE * _SIDE)
    first_x, first_z = len(data), len(data) + len(x_checks)
    z_ancillas = range(first_z, first_z + len(z_checks))
    x_ancillas = range(first_x, first_z)
    body = stim.Circuit()
    body.append("DEPOLARIZE1", data, p)
    for ancillas, own_checks, reset, measure, flip in (
        (z_ancillas, z_checks, "R", "M", "X_ERROR"),
        (x_ancillas, x_checks, "RX", "MX", "Z_ERROR"),
    ):
        body.append(reset, ancillas)
        body.append(flip, ancillas, p)
        for layer in range(6):
            pairs = [(check[layer], a) for a, check in zip(ancillas, own_checks, strict=True)]
            targets = [q for qubit, a in pairs for q in ((qubit, a) if reset == "R" else (a, qubit))]
            body.append("CX", targets)
            body.append("DEPOLARIZE2", targets, p)
        body.append(measure, ancillas, p)
    count, per_round = len(z_checks), len(z_checks) + len(x_checks)
    circuit = stim.Circuit()
    circuit.append("R", data)
    circuit.append("X_ERROR", data, p)
    for number in range(rounds):
        circuit += body
        for k in range(count):
            earlier = [k - 2 * per_round] if number else []
            circuit.append("DETECTOR", [stim.target_rec(r) for r in [k - per_round, *earlier]])
    circuit.append("M", data, p)
    for k, check in enumerate(z_checks):
        records = [q - len(data) for q in check] + [k - per_round - len(data)]
        circuit.append("DETECTOR", [stim.target_rec(r) for r in records])
    for k, operator in enumerate(logical_operators(x_checks, z_checks, len(data))):
        circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(q - len(data)) for q in operator], k)
    return snc.Circuit(circuit)


class BeliefDecoder(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    """BP+OSD of the packages stimbposd and ldpc.

    Args:
        priors: The error model that it is compiled for, whatever the circuit is: decoders of all strengths of
            noise fail on the same fault sets then, so that their rates share the work. None: it is compiled
            for the model of each circuit.

    Examples:
        >>> BeliefDecoder(bivariate_bicycle_memory(0.002, 1).detector_error_model()).priors.num_detectors
        72
    """

    def __init__(self, priors: stim.DetectorErrorModel | None = None) -> None:
        self.priors = priors

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        """Compiles the decoder; see ``sinter.Decoder``."""
        return _CompiledBeliefDecoder(dem if self.priors is None else self.priors)


class _CompiledBeliefDecoder(sinter.CompiledDecoder):  # type: ignore[misc]
    def __init__(self, dem: stim.DetectorErrorModel) -> None:
        import stimbposd

        self._decoder = stimbposd.BPOSD(
            dem, max_bp_iters=20, bp_method="min_sum", osd_method="osd_0", osd_order=0
        )

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Bits) -> Bits:
        found = self._decoder.decode_batch(
            bit_packed_detection_event_data, bit_packed_shots=True, bit_packed_predictions=True
        )
        return np.asarray(found, dtype=np.uint8)


def main(arguments: list[str] | None = None) -> None:
    """Prints rates, and beside them what plain shots say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--p", type=float, nargs="+", default=[3e-3, 2e-3, 1e-3, 5e-4])
    parser.add_argument("--priors", type=float, help="the p that the decoder is told at every p")
    parser.add_argument("--shots", type=int, default=0, help="plain shots at each p to compare with")
    parser.add_argument("--relative_error", type=float, default=0.1)
    parser.add_argument("--max_seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    circuits = [bivariate_bicycle_memory(p, args.rounds) for p in args.p]
    told = None if args.priors is None else bivariate_bicycle_memory(args.priors, args.rounds)
    decoder = BeliefDecoder(None if told is None else told.detector_error_model())
    started = time.process_time()
    rates = snc.logical_error_rates(
        circuits,
        decoder=decoder,
        relative_error=args.relative_error,
        max_seconds=args.max_seconds,
        seed=args.seed,
        progress=True,
    )
    print(f"{rates[-1].decodes:,} decodes, {time.process_time() - started:.0f} s of processor time")
    for p, circuit, rate in zip(args.p, circuits, rates, strict=True):
        line = f"p={p:g}: {rate.logical_error_rate:.3g} ± {rate.standard_error:.1g}"
        if args.shots:
            compiled = decoder.compile_decoder_for_dem(dem=circuit.to_stim().detector_error_model())
            sampler = circuit.to_stim().compile_detector_sampler(seed=args.seed)
            dets, flips = sampler.sample(args.shots, separate_observables=True, bit_packed=True)
            wrong = compiled.decode_shots_bit_packed(bit_packed_detection_event_data=dets) != flips
            errors = int(wrong.any(axis=1).sum())
            line += f"; counted {errors / args.shots:.3g} ± {max(errors, 1) ** 0.5 / args.shots:.1g}"
        print(line)
        print("  each observable:", *(f"{each:.2g}" for each in rate.observable_rates))


class _Basis:
    """Independent rows over the field of two elements."""

    def __init__(self) -> None:
        self._rows: dict[int, Bits] = {}  # by the position of the first one

    def add(self, row: Bits) -> bool:
        """Adds a row unless the others make it up; returns whether it was added."""
        row = row.copy()
        while row.any():
            first = int(row.argmax())
            if first not in self._rows:
                self._rows[first] = row
                return True
            row ^= self._rows[first]
        return False


def _matrix(checks: list[list[int]], qubits: int) -> Bits:
    found = np.zeros((len(checks), qubits), dtype=np.uint8)
    for row, check in zip(found, checks, strict=True):
        row[check] = 1
    return found


def _kernel(matrix: Bits) -> Bits:
    """A basis of the vectors that have an even overlap with each row."""
    rows, columns = matrix.shape
    # Columns with what they are made of: sums of columns that vanish are the kernel.
    extended = np.hstack([matrix.T, np.eye(columns, dtype=np.uint8)])
    rank = 0
    for column in range(rows):
        pivots = np.flatnonzero(extended[rank:, column]) + rank
        if not len(pivots):
            continue
        extended[[rank, pivots[0]]] = extended[[pivots[0], rank]]
        others = np.flatnonzero(extended[:, column])
        extended[others[others != rank]] ^= extended[rank]
        rank += 1
    return np.asarray(extended[rank:, rows:])


if __name__ == "__main__":
    main()
