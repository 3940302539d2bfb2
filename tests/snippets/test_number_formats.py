"""The largest move of a stored number, against every number that the format has between 1 and 2."""

from __future__ import annotations

from fractions import Fraction

import pytest

from snippets.number_formats import BF16, E4M3, E5M2, FloatFormat, largest_move


@pytest.mark.parametrize(
    ("kept_as", "share"),
    [(E4M3, Fraction(1, 17)), (E5M2, Fraction(1, 9)), (BF16, Fraction(1, 257))],
    ids=lambda v: str(v),
)
def test_no_number_from_1_to_2_moves_by_more_and_one_moves_by_as_much(kept_as: FloatFormat, share: Fraction) -> None:
    grid = [1 + Fraction(i, 2**kept_as.mantissa_bits) for i in range(2**kept_as.mantissa_bits + 1)]
    tried = [1 + Fraction(i, 4096) for i in range(4097)]
    moves = [min(abs(number - kept) for kept in grid) / number for number in tried]
    assert max(moves) == share
    assert largest_move(kept_as) == pytest.approx(float(share))


def test_e4m3_ends_where_pytorch_says_that_it_ends() -> None:
    # torch.finfo(torch.float8_e4m3fn): max 448, smallest_normal 0.015625, eps 0.125; of e5m2: 57344, 6.10352e-05, 0.25
    for kept_as, largest, smallest, step in ((E4M3, 448, 0.015625, 0.125), (E5M2, 57_344, 6.10352e-05, 0.25)):
        assert kept_as.largest == largest
        assert kept_as.smallest_normal == pytest.approx(smallest)
        assert 2.0**-kept_as.mantissa_bits == step
    assert pytest.approx(3.38953e38) == BF16.largest  # torch.finfo(torch.bfloat16).max
