"""Where circuits lie that others have published, and why tests that need them are skipped elsewhere."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "reference_circuits"

needs_published = pytest.mark.skipif(
    not FOLDER.is_dir(),
    reason=f"compares with circuits of others, which are not part of the project, and {FOLDER} does not exist;"
    " test_generated_workloads.py asks the same of generated circuits",
)
