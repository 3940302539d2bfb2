"""Labels go near what they name, and over no other label."""

from itertools import combinations

import pytest

from snippets.draw.place import Box, Label, along, beside, everywhere, gap_to, place, stack

INSIDE = Box(0, 0, 300, 200)
LABEL = Label((("here", "t-small"),))


def free(box: Box) -> float:
    return 0.0


def test_boxes_that_only_touch_do_not_overlap() -> None:
    assert Box(0, 0, 10, 10).overlaps(Box(9, 9, 20, 20))
    assert not Box(0, 0, 10, 10).overlaps(Box(10, 0, 20, 10))


def test_a_label_is_as_wide_as_its_longest_line_and_as_high_as_all() -> None:
    # Inter at 12 px: h 591 e 583 r 376 e 583 thousandths of an em.
    assert pytest.approx((0.591 + 0.583 + 0.376 + 0.583) * 12) == LABEL.width
    two = Label((("here", "t-small"), ("h", "t-small")))
    assert (two.width, two.height) == (LABEL.width, LABEL.height + 16)


def test_a_label_stands_beside_its_point_and_slides_in_from_the_edge() -> None:
    (_, first), *_ = beside(LABEL, 150, 100, INSIDE, 9)
    assert (first.right, first.bottom) == pytest.approx((141, 91))
    for point in ((0, 0), (300, 200), (1, 199)):
        assert any(box.within(INSIDE) for _, box in beside(LABEL, *point, INSIDE, 9))


def test_the_distance_of_a_point_inside_a_box_is_zero() -> None:
    assert gap_to(Box(10, 10, 20, 20), 15, 15) == 0
    assert gap_to(Box(10, 10, 20, 20), 5, 23) == 5 + 3


def test_a_taken_place_is_not_taken_again() -> None:
    taken: list[Box] = []
    chosen = []
    for _ in range(20):
        tiers = (beside(LABEL, 150, 100, INSIDE, 9), everywhere(LABEL, INSIDE))
        found = place(tiers, INSIDE, taken, free, 1)
        assert found is not None and found[1].within(INSIDE)
        chosen.append(found[1])
    assert not any(one.overlaps(other) for one, other in combinations(chosen, 2))


def test_the_cheapest_place_wins_and_the_first_of_equals() -> None:
    level = along(LABEL, 0, 300, 100)
    assert place([level], INSIDE, [], free, 1) == level[0]
    right = place([level], INSIDE, [], lambda box: -box.left, -1000)
    assert right is not None and right[1].right == pytest.approx(300)


def test_a_later_tier_is_only_looked_at_while_nothing_good_was_found() -> None:
    near, far = beside(LABEL, 150, 100, INSIDE, 9), everywhere(LABEL, INSIDE)
    assert place([near, far], INSIDE, [], lambda box: box.top, 1) in far
    assert place([near, far], INSIDE, [], lambda box: box.top, 1000) in near


def test_without_room_there_is_no_place() -> None:
    assert everywhere(LABEL, Box(0, 0, 10, 10)) == []
    assert place([everywhere(LABEL, INSIDE)], INSIDE, [INSIDE], free, 1) is None


def test_stacked_intervals_move_apart_and_stay_between_the_ends() -> None:
    assert stack([(10, 10), (50, 10)], 0, 100) == [5, 45]
    assert stack([(10, 10), (12, 10)], 0, 100) == [5, 15]
    assert stack([(90, 10), (99, 10)], 0, 100) == [80, 90]
    assert stack([(0, 10), (1, 10)], 0, 100) == [0, 10]
