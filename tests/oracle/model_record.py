"""Writes model_answers.jsonl: what vLLM 0.26.0's own model classes answer to model_questions.py.

usage: PYTHONPATH=. python tests/oracle/model_record.py ORACLE_PYTHON > tests/oracle/model_answers.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from model_compare import ask, packed
from model_questions import questions


def main(oracle_python: str) -> None:
    for question, answer in ask(Path(oracle_python), questions()):
        print(json.dumps([question, packed(answer)], separators=(",", ":"), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
