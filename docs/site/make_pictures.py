"""Writes docs/pictures, one picture for each stage of a shot, and the pictures of circuits/.

python docs/site/make_pictures.py

The pictures have a background of their own, so that they can be read on light and on dark pages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit

sys.path.insert(0, str(Path(__file__).parent))
from circuit_pictures import cultivation, distillation, logical, teleportation

ROOT = Path(__file__).parents[2]

INK, GREY, LINE = "#222222", "#666666", "#999999"
BLUE, RED, GREEN, YELLOW, PAPER = "#cfe0f5", "#f7c9c0", "#cfeacb", "#fbe9b7", "#eeeeee"


class Picture:
    """An SVG picture, drawn by adding shapes. Coordinates are pixels, y grows downwards."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.shapes: list[str] = []

    def text(
        self, x: float, y: float, text: str, size: int = 14, colour: str = INK, at: str = "middle"
    ) -> None:
        """A line of text; ``at`` is start, middle or end."""
        self.shapes.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{at}">{escape(text)}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, fill: str, *lines: str) -> None:
        """A box with lines of text in its middle; the first one is larger."""
        self.shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{fill}" stroke="{LINE}"/>'
        )
        top = y + height / 2 + 5 - 9 * (len(lines) - 1)
        for k, line in enumerate(lines):
            self.text(x + width / 2, top + 18 * k, line, 14 if k == 0 else 12, INK if k == 0 else GREY)

    def line(
        self, *points: tuple[float, float], colour: str = INK, width: float = 1.5, arrow: bool = False
    ) -> None:
        """A line through points, with an arrow head at its end if asked for."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        head = ' marker-end="url(#arrow)"' if arrow else ""
        self.shapes.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{head}/>'
        )

    def svg(self) -> str:
        """The text of the file."""
        body = "\n".join(self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-family="Helvetica, Arial, sans-serif">\n'
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker></defs>\n'
            f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>\n{body}\n</svg>\n'
        )


def pipeline() -> Picture:
    """The way of the data, from text to arrays."""
    picture = Picture(860, 120)
    boxes = [
        (YELLOW, "text", "T 0, S[T] 0"),
        (BLUE, "Circuit", "Stim's gates + T"),
        (BLUE, "SamplingPlan", "plain arrays"),
        (BLUE, "bits", "of each shot"),
        (GREEN, "arrays, files", "counts"),
    ]
    for k, (fill, *lines) in enumerate(boxes):
        picture.box(20 + 175 * k, 45, 120, 50, fill, *lines)
    for k, name in enumerate(["dialect", "compiler", "engine", "sampling"]):
        picture.line((142 + 175 * k, 70), (192 + 175 * k, 70), arrow=True)
        picture.text(167 + 175 * k, 35, name, 13, GREY)
    return picture


def signs() -> Picture:
    """An error that passes a T gate turns it into T_DAG: the operations stay, a sign changes."""
    picture = Picture(760, 130)
    for left, (before, gate, after), title in (
        (20, ("X", "T", ""), "an X error before a T gate ..."),
        (400, ("", "T†", "X"), "... is a T gate with the other sign, and X after it"),
    ):
        picture.text(left + 160, 25, title, 13, GREY)
        picture.line((left, 75), (left + 320, 75))
        for x, name, fill in ((40, before, RED), (140, gate, BLUE), (240, after, RED)):
            if name:
                picture.box(left + x, 53, 44, 44, fill, name)
    picture.text(370, 81, "=", 22)
    return picture


def widths() -> Picture:
    """The width of the vector along the plan of d=3 cultivation."""
    circuit = snc.Circuit(cultivation_circuit(distance=3, p=1e-3))
    steps = [int(width) for width in circuit.plan(postselection_mask="all").widths]
    picture = Picture(760, 220)
    left, bottom, high = 90, 180, 30
    across = 640 / len(steps)
    for level in range(max(steps) + 1):
        y = bottom - high * level
        picture.line((left, y), (left + 640, y), colour="#dddddd", width=1)
        picture.text(left - 10, y + 4, str(2**level), 12, GREY, at="end")
    points = []
    for k, width in enumerate(steps):
        y = bottom - high * width
        points += [(left + across * k, y), (left + across * (k + 1), y)]
    picture.line(*points, width=2.5)
    picture.text(left + 320, 210, "quantum operations of the plan, in their order", 13, GREY)
    picture.text(
        20, 28, "coefficients: T gates double the vector, measurements halve it", 13, GREY, at="start"
    )
    return picture


def effects() -> Picture:
    """The effect of a fault, found by walking backwards."""
    picture = Picture(760, 200)
    for y, name in ((60, "data"), (110, "check"), (160, "data")):
        picture.text(20, y + 5, name, 13, GREY, at="start")
        picture.line((70, y), (600, y))
    picture.box(180, 40, 40, 40, RED, "X")
    for x, y in ((300, 60), (360, 160), (480, 60)):
        if x != 480:
            picture.line((x, y), (x, 110))
            picture.box(x - 13, 97, 26, 26, PAPER, "+")
    picture.box(460, 40, 40, 40, BLUE, "T")
    picture.box(560, 90, 50, 40, PAPER, "M")
    picture.line((612, 110), (660, 110), arrow=True)
    picture.box(662, 90, 80, 40, YELLOW, "D7")
    picture.line((480, 38), (480, 22), (660, 22), arrow=True)
    picture.box(662, 4, 80, 36, GREEN, "sign 3")
    picture.text(20, 20, "this X error flips detector 7 and the sign of T gate 3", 13, GREY, at="start")
    return picture


def row() -> Picture:
    """Two mechanisms are XORed into the row of a shot."""
    picture = Picture(760, 210)
    sections = [("noise-only checks", 6, RED), ("signature", 4, BLUE), ("outputs", 2, GREEN)]
    rows = [
        ("mechanism 17", "000101" + "0100" + "00"),
        ("mechanism 208", "000101" + "0001" + "01"),
        ("the shot", "000000" + "0101" + "01"),
    ]
    for r, (name, bits) in enumerate(rows):
        y = 40 + 50 * r + (15 if r == 2 else 0)
        picture.text(20, y + 20, ("⊕ " if r == 1 else "") + name, 14, at="start")
        x, position = 160.0, 0
        for title, count, fill in sections:
            if r == 0:
                picture.text(x + 17 * count, 25, title, 13, GREY)
            for _ in range(count):
                picture.box(x, y, 32, 30, fill, bits[position])
                x, position = x + 34, position + 1
            x += 16
    picture.line((20, 138), (620, 138), colour=LINE)
    picture.text(640, 66, "events of the shot", 13, GREY, at="start")
    picture.text(640, 168, "kept so far:", 13, GREY, at="start")
    picture.text(640, 186, "all checks are 0", 13, GREY, at="start")
    return picture


def funnel() -> Picture:
    """What happens to a thousand shots of d=5 cultivation."""
    picture = Picture(760, 235)
    picture.box(20, 80, 130, 60, YELLOW, "1000 shots", "events drawn, XORed")
    picture.box(230, 80, 140, 60, RED, "noise-only checks", "any check 1?")
    picture.box(450, 80, 130, 60, BLUE, "signature", "0 or not?")
    picture.box(620, 20, 120, 50, GREEN, "144 shots", "done at once")
    picture.box(620, 150, 120, 60, BLUE, "14 shots", "draw the outcomes")
    picture.box(230, 180, 140, 40, PAPER, "842 discarded")
    picture.line((152, 110), (228, 110), arrow=True)
    picture.line((372, 110), (448, 110), arrow=True)
    picture.line((300, 142), (300, 178), arrow=True)
    picture.line((515, 78), (515, 45), (618, 45), arrow=True)
    picture.line((515, 142), (515, 180), (618, 180), arrow=True)
    picture.text(410, 100, "158", 13, GREY)
    picture.text(560, 38, "0", 13, GREY)
    picture.text(560, 173, "not 0", 13, GREY)
    return picture


def tree() -> Picture:
    """The outcome law of a signature as a tree that grows where shots go."""
    picture = Picture(760, 250)
    nodes = {
        "": (380, 45),
        "0": (230, 120),
        "1": (530, 120),
        "00": (130, 195),
        "01": (330, 195),
        "10": (480, 195),
    }
    chances = {"0": "0.85", "1": "0.15", "00": "1", "01": "0", "10": "0.5"}
    for name, (x, y) in nodes.items():
        if name:
            above = nodes[name[:-1]]
            picture.line((above[0], above[1] + 18), (x, y - 18), colour=LINE)
            picture.text(
                (above[0] + x) / 2 + (18 if name[-1] == "1" else -18), (above[1] + y) / 2, chances[name], 12
            )
    picture.box(320, 27, 120, 36, BLUE, "outcome 0")
    picture.box(170, 102, 120, 36, BLUE, "outcome 1")
    picture.box(470, 102, 120, 36, BLUE, "outcome 1")
    picture.box(70, 177, 120, 40, GREEN, "kept, right")
    picture.box(270, 177, 120, 40, PAPER, "never happens")
    picture.box(430, 177, 110, 40, RED, "discarded")
    picture.line((530, 138), (630, 177), colour=LINE)
    picture.text(600, 152, "0.5", 12)
    picture.box(590, 177, 130, 40, YELLOW, "not computed yet")
    picture.text(20, 25, "signature 0101", 13, GREY, at="start")
    picture.text(380, 240, "one random number decides which way a shot takes", 13, GREY)
    return picture


def rooms() -> Picture:
    """The way of a shot through the rooms of the code."""
    picture = Picture(900, 355)
    rows = (
        ("once for a circuit", YELLOW, [
            ("text", "T 0, S[T] 0"), ("dialect", "tagged circuit"), ("compiler/program", "simple steps"),
            ("compiler/sweeps", "operations, effects"), ("compiler/plans", "checks, mechanisms"),
        ]),
        ("for each shot (native)", BLUE, [
            ("random words", "of seed and shot"), ("events", "mechanisms, XORed"), ("checks", "discard if 1"),
            ("law of signature", "store, or vector"), ("outputs", "bits, verdict"),
        ]),
        ("for many shots", GREEN, [
            ("engines", "ranges of shots"), ("sampling", "arrays, counts"), ("samplers", "of sinter_plugin"),
            ("decoder", "if there is one"), ("statistics", "a row of a file"),
        ]),
    )  # fmt: skip
    for r, (title, fill, boxes) in enumerate(rows):
        y = 40 + 125 * r
        picture.text(104 if r else 20, y - 12, title, 13, GREY, at="start")
        for k, lines in enumerate(boxes):
            picture.box(20 + 175 * k, y, 145, 52, fill, *lines)
            if k:
                picture.line((168 + 175 * (k - 1), y + 26), (192 + 175 * (k - 1), y + 26), arrow=True)
        if r:
            # From the end of a row to the beginning of the next one.
            picture.line((792, y - 70), (792, y - 50), (92, y - 50), (92, y - 3), arrow=True)
            picture.text(442, y - 55, ("SamplingPlan: plain arrays", "shots of a range")[r - 1], 13, GREY)
    return picture


def leakage() -> Picture:
    """The three states of a qubit, what changes them, and what stands for a leaked one."""
    picture = Picture(860, 300)
    states = (("computational", "|0> and |1>", BLUE, 30), ("leaked", "", YELLOW, 355), ("lost", "", RED, 680))
    for name, below, fill, x in states:
        picture.box(x, 85, 150, 56, fill, name, *([below] if below else []))
    for left, right, y, name in (
        (182, 353, 100, "LEAKAGE(p)"),
        (507, 678, 100, "LOSS(p)"),
        (353, 182, 127, "RELAX(p), RL, R"),
    ):
        picture.line((left, y), (right, y), arrow=True)
        picture.text((left + right) / 2, y - 7 if y == 100 else y + 18, name, 13, GREY)
    picture.line((105, 83), (105, 45), (755, 45), (755, 83), arrow=True)
    picture.text(430, 38, "LOSS(p)", 13, GREY)
    picture.line((755, 143), (755, 185), (105, 185), (105, 143), arrow=True)
    picture.text(430, 203, "R, MR: the qubit is replaced", 13, GREY)
    picture.text(30, 240, "While a qubit is leaked or lost:", 14, at="start")
    for k, (gate, meaning) in enumerate(
        (
            ("T, H", "nothing"),
            ("CX, CZ", "its partner gets a random Pauli"),
            ("M", "the record is a coin"),
            ("HERALD_...", "the record is 1"),
        )
    ):
        x = 30 + 205 * k
        picture.box(x, 252, 90, 34, PAPER, gate)
        for j, line in enumerate(meaning.split("gets")):
            words = line.strip() if j == 0 else f"gets {line.strip()}"
            picture.text(x + 98, 273 - 8 * ("gets" in meaning) + 16 * j, words, 11, GREY, at="start")
    return picture


def doors() -> Picture:
    """Seven questions about faults: what each call is given, and what it answers."""
    picture = Picture(860, 330)
    picture.box(10, 130, 130, 60, YELLOW, "Circuit", "with noise")
    calls = (
        ("circuit.faults()", "all there are"),
        ("circuit.malignant_sets()", "smallest sets that can spoil a kept shot"),
        ("circuit.fault_distance()", "how many faults these sets have"),
        ("sampler.sample_failures(shots)", "those of shots that were kept and wrong"),
        ("rate.failures()", "what the decoder of a computed rate gets wrong"),
    )
    for k, (call, answer) in enumerate(calls):
        y = 15 + 62 * k
        picture.line((140, 160), (180, y + 24), arrow=True)
        picture.box(180, y, 320, 48, GREEN if "distance" in call else BLUE, call, answer)
        if "distance" not in call:
            picture.line((500, y + 24), (535, 160), arrow=True)
    picture.box(535, 130, 70, 60, YELLOW, "faults")
    for y, call, answer in (
        (75, "outcome_probabilities(faults)", "P(kept), P(kept and wrong), exact"),
        (195, "with_faults(faults)", "these faults as gates, no noise"),
    ):
        picture.line((605, 160), (628, y + 24), arrow=True)
        picture.box(628, y, 226, 48, GREEN, call, answer)
    return picture


def pictures() -> Iterator[tuple[Path, str]]:
    """Files and texts of all pictures, page by page in the order in which the page shows them."""
    drawn: tuple[Callable[[], Picture], ...] = (
        *(pipeline, signs, widths, effects, row, funnel, tree, rooms),
        *(leakage, doors),
    )
    for draw in drawn:
        yield ROOT / "docs" / "pictures" / f"{draw.__name__}.svg", draw().svg()
    for module in (cultivation, distillation, teleportation):
        folder = ROOT / "circuits" / module.__name__.split(".")[-1] / "pictures"
        for name, text in module.all_pictures().items():
            yield folder / name, text
    for name, text in logical.all_pictures().items():
        yield ROOT / "docs" / "pictures" / "logical" / name, text


if __name__ == "__main__":
    for file, text in pictures():
        file.write_text(text, encoding="utf-8")
