"""Prints the coverage by room, and the ten worst files, from what .ci/coverage has measured in a folder."""

from __future__ import annotations

import json
import pathlib
import sys
from collections import defaultdict

SMALLEST = 20
"""Files of fewer lines and branches are not among the worst."""


def counts_of(folder: pathlib.Path) -> dict[str, tuple[int, int]]:
    """For each file, how many of its lines and branches were reached, and how many there are."""
    python = json.loads((folder / "python.json").read_text())["files"]
    found = {
        name: (
            each["summary"]["covered_lines"] + each["summary"]["covered_branches"],
            each["summary"]["num_statements"] + each["summary"]["num_branches"],
        )
        for name, each in python.items()
    }
    for each in json.loads((folder / "native.json").read_text())["files"]:
        reached = each["line_covered"] + each["branch_covered"]
        found[f"native/{each['filename']}"] = reached, each["line_total"] + each["branch_total"]
    return found


def main(folder: pathlib.Path) -> None:
    """Prints both tables."""
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    counts = counts_of(folder)
    for name, (reached, total) in counts.items():
        for room in (
            "/".join(name.split("/")[:2]),
            "all of C++" if name.startswith("native/") else "all of Python",
        ):
            rooms[room][0] += reached
            rooms[room][1] += total
    print("lines and branches that the tests reach, by room\n")
    for room, (reached, total) in sorted(rooms.items()):
        print(f"{100 * reached / max(1, total):6.1f}%  of {total:6}  {room}")
    print("\nthe ten worst files\n")
    large = [(reached / total, total, name) for name, (reached, total) in counts.items() if total >= SMALLEST]
    for share, total, name in sorted(large)[:10]:
        print(f"{100 * share:6.1f}%  of {total:6}  {name}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
