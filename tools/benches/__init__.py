"""The parts of `make bench`. Each yields rows for the table of tools/bench.py."""
