"""Steps of programs, in a form in which two programs can be compared."""

from collections.abc import Iterator

from stim_nonclifford.simulation.compiler.program.program import Program
from stim_nonclifford.simulation.compiler.program.steps import Clifford, Noise, Step


def one_by_one(program: Program) -> Iterator[Step]:
    """The steps, with one group of targets each."""
    for step in program.steps:
        if isinstance(step, Clifford):
            yield from (Clifford(step.gate, (group,)) for group in step.groups)
        elif isinstance(step, Noise):
            first = step.first_herald
            for k, group in enumerate(step.groups):
                yield Noise(step.channel, (group,), None if first is None else first + k)
        else:
            yield step
