"""Samplers of a user, for the table of remedies."""

from typing import Any

import sinter_plugin


def samplers() -> dict[str, Any]:
    """A sampler with a state check, and one that does not decode."""
    return {
        "mine": sinter_plugin.SoftDecodingSampler(state_check="T"),
        "postselect": sinter_plugin.SoftPostselectSampler(),
    }
