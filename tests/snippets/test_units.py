"""One way to print a number, with GB and GiB never mixed."""

from snippets import units


def test_kib_mib_gib_are_powers_of_two() -> None:
    assert (units.KIB, units.MIB, units.GIB) == (1024, 1_048_576, 1_073_741_824)


def test_mb_gb_tb_are_powers_of_ten() -> None:
    assert (units.MB, units.GB, units.TB) == (1_000_000, 1_000_000_000, 1_000_000_000_000)


def test_qwen_weights_are_15_23_gb_and_14_19_gib() -> None:
    assert units.gb(15_231_233_024) == "15.23 GB"
    assert units.gib(15_231_233_024) == "14.19 GiB"


def test_each_formatter_writes_the_unit_behind_a_space() -> None:
    assert units.kib(57_344) == "56 KiB"
    assert units.mib(512 * 2**20) == "512 MiB"
    assert units.gib(2**30, 1) == "1.0 GiB"
    assert units.percent(0.0321, 1) == "3.2 %"
    assert units.milliseconds(0.01403, 2) == "14.03 ms"


def test_times_has_no_space() -> None:
    assert units.times(7) == "7×"
    assert units.times(14.0879, 2) == "14.09×"


def test_large_numbers_have_thousands_commas() -> None:
    assert units.count(246_604) == "246,604"
    assert units.count(52.58, 1) == "52.6"
    assert units.gib(1_234 * 2**30, 0) == "1,234 GiB"


def test_a_small_number_is_not_printed_as_nothing() -> None:
    assert [units.exact_enough(n) for n in (14, 37.039, 0.1, 0.001, 0.00016, 0)] == [
        *("14", "37.04", "0.10", "0.001", "0.00016", "0")
    ]


def test_one_of_a_thing_is_one_thing() -> None:
    said = [units.quantity(n, unit) for n, unit in ((1, "tokens"), (2, "tokens"), (1, "GiB"), (1.5, ""))]
    assert said == ["1 token", "2 tokens", "1 GiB", "1.50"]


def test_axis_labels_are_short_in_powers_of_two_only() -> None:
    assert [units.short_tokens(n) for n in (1, 1000, 1024, 8192, 131_072, 1_048_576, 1_500_000)] == [
        "1",
        "1000",
        "1k",
        "8k",
        "128k",
        "1M",
        "1500000",
    ]
