"""Python's collector of cycles is paused while a circuit is compiled, and only then."""

import gc
from collections.abc import Iterator

import pytest

from stim_nonclifford import Circuit, ResourceLimitError
from stim_nonclifford.base.memory import collector_paused
from stim_nonclifford.simulation.compiler import compiled_circuit

TEXT = "X_ERROR(0.1) 0\nH 0\nT 0\nH 0\nM 0\nDETECTOR rec[-1]"


@pytest.fixture(autouse=True)
def collector_as_before() -> Iterator[None]:
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_it_is_left_as_it_was(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() == enabled
    with pytest.raises(KeyboardInterrupt), collector_paused():
        raise KeyboardInterrupt
    assert gc.isenabled() == enabled


def test_while_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for name in ("forward_sweep", "backward_sweep", "construct_plan"):
        original = getattr(compiled_circuit, name)

        def noted(*arguments: object, original: object = original, **options: object) -> object:
            seen.append(gc.isenabled())
            return original(*arguments, **options)  # type: ignore[operator]

        monkeypatch.setattr(compiled_circuit, name, noted)
    gc.enable()
    Circuit(TEXT).compile_detector_sampler(seed=1).sample(3)
    assert len(seen) >= 3
    assert not any(seen)
    assert gc.isenabled()


def test_after_a_refusal() -> None:
    gc.enable()
    qubits = " ".join(map(str, range(60)))
    wide = Circuit(f"RX {qubits}\nT {qubits}\nMPP {'*'.join(f'X{q}' for q in range(60))}")
    with pytest.raises(ResourceLimitError):
        wide.compile_sampler()
    assert gc.isenabled()
