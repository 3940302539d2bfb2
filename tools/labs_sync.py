"""Copy named definitions from snippets/ into the labs, between marks, so that a lab runs as one file.

A lab holds these lines; what stands between the second and the last is replaced. Imports stay the lab's own.

    # --- generated from snippets/FILE.py by make labs-sync: do not edit ---
    # copied: name, name
    # --- end of snippets/FILE.py ---

With `# computed: name, name` the lab gets the whole number that the name stands for, not how it is worked out.
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LABS = ROOT / "labs"
BLOCK = re.compile(
    r"^(?P<start># --- generated from (?P<file>snippets/\S+\.py) by make labs-sync: do not edit ---\n"
    r"(?P<names>(?:# (?P<how>copied|computed): [^\n]*\n)(?:# (?P=how): [^\n]*\n)*))"
    r"(?P<body>.*?)"
    r"^(?P<end># --- end of (?P=file) ---\n)",
    re.MULTILINE | re.DOTALL,
)
START = re.compile(r"^# --- generated from ", re.MULTILINE)


class SyncError(ValueError):
    """A mark that cannot be filled."""


def _defined(node: ast.stmt) -> set[str]:
    """The names a top-level statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def definitions(source: str, names: list[str], file: str) -> str:
    """The text of the named top-level definitions, in the order of the file, with the blank lines that follow."""
    lines = source.splitlines()
    parts: list[tuple[bool, str]] = []
    missing = set(names)
    for node in ast.parse(source).body:
        if found := _defined(node) & missing:
            missing -= found
            block = isinstance(node, ast.FunctionDef | ast.ClassDef)
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            parts.append((block, "\n".join(lines[first - 1 : node.end_lineno])))
    if missing:
        raise SyncError(f"{file} does not define {', '.join(sorted(missing))}: correct the names in the lab's mark")
    text = parts[0][1]
    for (before, _), (here, part) in pairwise(parts):
        text += ("\n\n\n" if before or here else "\n") + part
    return text + ("\n\n\n" if parts[-1][0] else "\n")  # as the formatter wants it before the end mark


def values(path: Path, names: list[str], file: str) -> str:
    """The named whole numbers of a module, as assignments."""
    found = runpy.run_path(str(path))
    if missing := [name for name in names if not isinstance(found.get(name), int)]:
        raise SyncError(f"{file} defines no whole number {', '.join(missing)}: correct the names in the lab's mark")
    return "".join(f"{name} = {found[name]:_}\n" for name in names)


def synced(lab: str, root: Path = ROOT) -> str:
    """The lab's text with every block copied again from its source."""

    def fill(match: re.Match[str]) -> str:
        file = match["file"]
        path = root / file
        if not path.is_file():
            raise SyncError(f"{file} is named in a lab's mark but does not exist")
        names = re.findall(r"\w+", match["names"].replace(f"# {match['how']}:", ""))
        if not names:
            raise SyncError(f"the mark of {file} names nothing to copy")
        if match["how"] == "computed":
            return f"{match['start']}{values(path, names, file)}{match['end']}"
        return f"{match['start']}{definitions(path.read_text(encoding='utf-8'), names, file)}{match['end']}"

    text, filled = BLOCK.subn(fill, lab)
    if filled != len(START.findall(lab)):
        raise SyncError("a `generated from` mark has no matching `end of` mark, or is not written as this module says")
    return text


def labs() -> list[Path]:
    """All labs, sorted by name."""
    return sorted(LABS.glob("*.py"))


def main() -> None:
    try:
        for path in labs():
            before = path.read_text(encoding="utf-8")
            after = synced(before)
            if before != after:
                path.write_text(after, encoding="utf-8")
            print(f"labs/{path.name}: {'written' if before != after else 'up to date'}")
    except SyncError as error:
        sys.exit(f"labs-sync: {error}")


if __name__ == "__main__":
    main()
