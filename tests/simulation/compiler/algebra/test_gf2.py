"""Linear algebra over GF(2), against sums over all subsets and against NumPy."""

import functools
import itertools
import operator
import random
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pytest

from stim_nonclifford.simulation.compiler.algebra.gf2 import independent, mask_of, ones, parities, relations


def xor(rows: Iterable[int]) -> int:
    return functools.reduce(operator.xor, rows, 0)


def span(rows: list[int]) -> set[int]:
    """The sums of all subsets."""
    return {xor(subset) for size in range(len(rows) + 1) for subset in itertools.combinations(rows, size)}


def bits(rows: list[int], num_columns: int) -> npt.NDArray[np.uint8]:
    return np.array([[row >> c & 1 for c in range(num_columns)] for row in rows], np.uint8).reshape(
        len(rows), num_columns
    )


def lists_of_rows(seed: int, count: int) -> Iterator[tuple[list[int], int]]:
    """Up to eight rows of up to twelve bits, sparse and dense, with zeros, repetitions and sums among them."""
    rng = random.Random(seed)
    for _ in range(count):
        num_columns = rng.randrange(1, 13)
        density = rng.choice([0.2, 0.5, 0.9])
        rows = [
            sum((rng.random() < density) << c for c in range(num_columns)) for _ in range(rng.randrange(9))
        ]
        for k in range(len(rows)):
            if rng.random() < 0.25:
                rows[k] = xor(rng.choices(rows, k=rng.randrange(4)))
        yield rows, num_columns


@pytest.mark.parametrize("size", [0, 1, 7, 8, 31, 32, 33, 64, 65, 1000])
def test_ones(size: int) -> None:
    """Few set bits and many, which are found in different ways; also far up."""
    rng = random.Random(size)
    for offset in (0, 1, 63, 64, 200):
        positions = sorted(rng.sample(range(offset, offset + 2 * size + 1), size))
        found = ones(sum(1 << k for k in positions))
        assert found == positions
        assert all(type(k) is int for k in found)  # shifts by NumPy's integers overflow
    assert ones((1 << size) - 1) == list(range(size))


def test_independent_rows_are_the_first_ones_that_are_no_sum_of_those_before() -> None:
    for rows, _ in lists_of_rows(seed=1, count=300):
        expected: list[int] = []
        for row in rows:
            if row not in span(expected):
                expected.append(row)
        assert independent(rows) == expected
        for enough in range(len(expected) + 2):
            assert independent(rows, enough) == expected[:enough]


def test_independent_reads_no_more_rows_than_it_needs() -> None:
    rows = iter([0b01, 0b11, 0b10])
    assert independent(rows, 1) == [0b01]
    assert 0b10 in rows


def test_relations() -> None:
    some_depend = 0
    for rows, _ in lists_of_rows(seed=2, count=300):
        kept, dependent = relations(rows)
        assert [rows[k] for k in kept] == independent(rows)
        assert sorted([*kept, *dependent]) == list(range(len(rows)))
        for k, sources in dependent.items():
            assert set(ones(sources)) <= set(kept)
            assert all(source < k for source in ones(sources))
            assert xor(rows[source] for source in ones(sources)) == rows[k]
        some_depend += bool(dependent)
    assert some_depend > 100


def test_parities_are_a_product_of_matrices() -> None:
    rng = random.Random(5)
    for rows, num_columns in lists_of_rows(seed=6, count=200):
        masks = [rng.getrandbits(num_columns) for _ in range(rng.randrange(10))]
        found = parities(rows, [ones(mask) for mask in masks])
        product = bits(rows, num_columns) @ bits(masks, num_columns).T % 2
        np.testing.assert_array_equal(bits(found, len(masks)), product)


@pytest.mark.parametrize("number", [3, 300])
def test_masks_of_numpy_integers(number: int) -> None:
    """Few positions, and many."""
    positions = np.random.default_rng(5).choice(1000, number, replace=False)
    assert mask_of(positions) == sum(1 << position for position in positions.tolist())
    assert ones(mask_of(positions)) == sorted(positions.tolist())
