"""Sinter plugin: collects statistics of circuits with T gates with Sinter's tools.

Sinter's own samplers hand the circuit to Stim, which takes the T gate ``S[T]`` for the Clifford gate S.
The sampler of this package, ``soft_postselect``, samples the T gate itself, and discards on detectors
without decoding; ``soft_postselect_gpu`` does the same on an NVIDIA GPU. Three ways to use it:

* ``sinter collect --custom_decoders_module_function sinter_plugin:sinter_samplers
  --decoders soft_postselect ...``;
* ``sinter.collect(tasks=[sinter_plugin.task(...)], custom_decoders=sinter_plugin.sinter_samplers(), ...)``;
* ``python -m sinter_plugin collect ...``, with the arguments of ``sinter collect``, which also accepts
  circuits that Sinter refuses.

The modules, each built on the ones before it: ``masks`` (checks and unpacks Sinter's bit masks),
``batch_size`` (how many shots to take per call), ``parent_watch`` (ends workers whose parent is gone),
``soft_postselect`` (the sampler), ``tasks`` (Sinter tasks of any circuit), ``sinter_internals`` (the
private parts of Sinter that are used), ``rows``, ``file_lock``, ``rescue`` and ``save_file`` (the file of
statistics: whole rows, one run at a time, and what to do when it is gone), ``worker_watch``,
``collect_command`` and ``__main__`` (the command line).
"""

from __future__ import annotations

from .soft_postselect import CompiledSoftPostselectSampler, SoftPostselectSampler
from .tasks import task

__all__ = ["CompiledSoftPostselectSampler", "SoftPostselectSampler", "sinter_samplers", "task"]


def sinter_samplers() -> dict[str, SoftPostselectSampler]:
    """The samplers of this plugin, by the names that Sinter is to know them by.

    Returns:
        A dictionary for the argument ``custom_decoders`` of ``sinter.collect``, and for the command
        line argument ``--custom_decoders_module_function sinter_plugin:sinter_samplers``.

    Examples:
        >>> sinter_samplers()
        {'soft_postselect': SoftPostselectSampler(engine='auto', count_observable_error_combos=False,
        max_active_coordinates=24, device=None), 'soft_postselect_gpu': SoftPostselectSampler(engine='gpu',
        count_observable_error_combos=False, max_active_coordinates=24, device=None)}
    """
    return {
        "soft_postselect": SoftPostselectSampler(),
        "soft_postselect_gpu": SoftPostselectSampler(engine="gpu"),
    }
