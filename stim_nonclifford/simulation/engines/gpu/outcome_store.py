"""The device's memory for outcomes: their trees, and the coefficient vectors of simulations."""

from __future__ import annotations

import numpy as np

from ...._native import device_constants
from .backend import Array, Backend
from .device_plan import DevicePlan

_CONSTANTS = device_constants()
_NODES_PER_SLOT = 2
_MAX_SLOTS = 1 << 28
_RESERVED = 0xFFFFFFFF


class OutcomeStore:
    """A table of signatures, the nodes of their trees in at most ``max_bytes``, and coefficient vectors.

    ``native/kernels/simulation/tree_walk.h`` defines the nodes.
    """

    def __init__(self, plan: DevicePlan, backend: Backend, max_bytes: int) -> None:
        xp = backend.xp
        slot_bytes = 8 + 8 * plan.signature_words + 4
        node_bytes = _CONSTANTS["node_bytes"] + 8 * plan.output_words
        affordable = max_bytes // (slot_bytes + _NODES_PER_SLOT * node_bytes) if plan.simulate else 0
        # The hash table needs a power of two, or no slots at all.
        self.num_slots = 1 << min(_MAX_SLOTS, affordable).bit_length() - 1 if affordable else 0
        self.node_capacity = _NODES_PER_SLOT * self.num_slots
        slots, nodes = max(1, self.num_slots), max(1, self.node_capacity)
        self.fingerprints: Array = xp.zeros(slots, dtype=np.uint64)
        self.keys: Array = xp.empty(slots * max(1, plan.signature_words), dtype=np.uint64)
        self.roots: Array = xp.full(slots, _RESERVED, dtype=np.uint32)
        self.nodes: Array = xp.empty(nodes * _CONSTANTS["node_bytes"], dtype=np.uint8)
        self.node_outputs: Array = xp.empty(nodes * max(1, plan.output_words), dtype=np.uint64)
        teams = plan.simulate.num_teams if plan.simulate else 0
        self.vectors: Array = xp.empty(teams * plan.vector_bytes, dtype=np.uint8)
        self.branch_rows: Array = xp.empty(teams * plan.branch_words, dtype=np.uint64)
        # Number 0 stands for "no node", so the first node has number 1.
        self._first_counters = np.zeros(_CONSTANTS["num_law_counters"], dtype=np.uint64)
        self._first_counters[_CONSTANTS["nodes_used"]] = 1
        self.counters: Array = backend.to_device(self._first_counters)
        self._backend = backend

    def clear(self) -> None:
        """Deletes the trees. No kernel may be using them."""
        self.fingerprints.fill(0)
        self.roots.fill(_RESERVED)
        self._backend.upload(self.counters.view(np.uint8), self._first_counters.view(np.uint8))

    @property
    def bytes(self) -> int:
        """Size of the trees in bytes."""
        arrays = (self.fingerprints, self.keys, self.roots, self.nodes, self.node_outputs)
        return sum(int(array.nbytes) for array in arrays) if self.num_slots else 0

    def statistics(self) -> dict[str, int]:
        """The numbers of stored signatures and nodes, and the size of the store in bytes."""
        counters = self._backend.to_host(self.counters)
        return {
            "signatures": int(counters[_CONSTANTS["signatures_used"]]),
            "nodes": min(int(counters[_CONSTANTS["nodes_used"]]), max(1, self.node_capacity)) - 1,
            "bytes": self.bytes,
        }
