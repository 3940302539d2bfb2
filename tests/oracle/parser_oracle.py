# mypy: ignore-errors
"""vLLM 0.26.0's own command-line parser, and which function a line of its source lies in.

usage: ORACLE_ENV/bin/python tests/oracle/parser_oracle.py < lines.jsonl
{"words": […]} → {"values": {dest: value}} or {"error": text}; {"source": "vllm/….py:430"} → {"functions": […]};
{"flags": true} → {"flags": [[spelling, …, takes], …]}.
"""

import ast
import json
import os
import sys
from functools import cache
from pathlib import Path

os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"  # its log goes to stdout

import vllm
import vllm.platforms
from vllm.platforms.cpu import CpuPlatform

vllm.platforms._current_platform = CpuPlatform()  # without a device the parser cannot be built

from vllm.entrypoints.openai.cli_args import make_arg_parser  # noqa: E402
from vllm.utils.argparse_utils import FlexibleArgumentParser  # noqa: E402

TAKES = {None: "one", 0: "none", "+": "many", "?": "optional"}
ROOT = Path(vllm.__file__).parent.parent


class Refused(Exception):
    pass


class Parser(FlexibleArgumentParser):
    def error(self, message):
        raise Refused(message)


PARSER = make_arg_parser(Parser())


def values(words):
    try:
        found = vars(PARSER.parse_args(words))
    except Refused as refused:
        return {"error": str(refused)}
    return {"values": {name: getattr(value, "name", value) for name, value in found.items()}}  # an enum by its name


@cache
def parsed(path):
    return ast.parse((ROOT / path).read_text())


def functions(source):
    """Names of the functions and classes around a line, outermost first, dotted."""
    path, line = source.rsplit(":", 1)
    found, above = [], []

    def walk(node):
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            if named:
                above.append(child.name)
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                if first <= int(line) <= child.end_lineno:
                    found.append(".".join(above))
            walk(child)
            if named:
                above.pop()

    walk(parsed(path))
    return {"functions": found}


def flags():
    rows = [[*action.option_strings, TAKES[action.nargs]] for action in PARSER._actions if action.option_strings]
    return {"flags": [row for row in rows if "--help" not in row]}


def answer(line):
    if "words" in line:
        return values(line["words"])
    return functions(line["source"]) if "source" in line else flags()


if __name__ == "__main__":
    for text in sys.stdin:
        print(json.dumps(answer(json.loads(text)), default=str), flush=True)
