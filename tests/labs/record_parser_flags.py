"""Write down which options the real parsers of vLLM 0.26.0 have: `vllm serve` and `vllm bench serve`.

Run with the Python of the labs' CPU environment; what it prints is kept as parser_flags.json beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import sys


def options(parser: argparse.ArgumentParser) -> list[str]:
    return sorted({option for action in parser._actions for option in action.option_strings if option.startswith("--")})


def main() -> None:
    os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"  # its log goes where the answer goes
    from vllm.benchmarks.serve import add_cli_args
    from vllm.entrypoints.openai.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    bench = FlexibleArgumentParser()
    add_cli_args(bench)
    found = {"serve": options(make_arg_parser(FlexibleArgumentParser())), "bench serve": options(bench)}
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
