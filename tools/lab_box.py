"""What a page shows of a lab, read from the lab's own docstring and header: box, command, settings, checksum.

For exec blocks:

    from tools.lab_box import lab_box
    print(lab_box("serve_kv"))  # HTML, with `html="1"`; the page lies two folders deep, as all of ours do

A docstring is one sentence, then fields `Name: text`, continued by indented lines. REQUIRED names those each lab has.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = (
    "Question",
    "Card",
    "Minimum memory",
    "Time",
    "Cost",
    "Platform",
    "Without NVIDIA",
    "Measures",
    "Expect",
    "Why",
)
IN_THE_BOX = ("Card", "Minimum memory", "Time", "Cost", "Platform", "Without NVIDIA")
_FIELD = re.compile(r"^(?P<name>[A-Z][\w ]*): (?P<text>.+(?:\n    .+)*)", re.MULTILINE)
_HEADER = re.compile(r"^# /// script\n(?P<body>(?:# .*\n)+)# ///\n", re.MULTILINE)


class LabError(ValueError):
    """A lab whose docstring or header lacks something its page needs."""


@dataclass(frozen=True)
class Lab:
    """One lab as its page tells it."""

    name: str  # the file's name without .py
    title: str
    fields: dict[str, str]
    requires_python: str
    dependencies: tuple[str, ...]
    source: bytes

    @property
    def page(self) -> str:
        """The folder of its page under /labs/."""
        return self.name.replace("_", "-")

    @property
    def sha256(self) -> str:
        """Checksum of the published file, which is a copy of the one in labs/."""
        return hashlib.sha256(self.source).hexdigest()


def names() -> list[str]:
    """Every lab there is."""
    return sorted(path.stem for path in (ROOT / "labs").glob("*.py"))


def parse(name: str, source: bytes) -> Lab:
    """Read a lab's text; a missing field or header is an error that names it."""
    text = source.decode("utf-8")
    header = _HEADER.match(text)
    if not header:
        raise LabError(f"labs/{name}.py must begin with a `# /// script` header (PEP 723)")
    wanted = re.search(r'^# requires-python = "(.+)"$', header["body"], re.MULTILINE)
    packages = re.search(r"^# dependencies = \[(.*)\]$", header["body"], re.MULTILINE)
    if not wanted or not packages:
        raise LabError(f"labs/{name}.py: the header needs requires-python and dependencies, each on one line")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    title, _, rest = docstring.partition("\n\n")
    fields = {found["name"]: re.sub(r"\s+", " ", found["text"]) for found in _FIELD.finditer(rest)}
    if missing := [field for field in REQUIRED if field not in fields]:
        raise LabError(f"labs/{name}.py: the docstring has no field {', '.join(missing)}")
    dependencies = tuple(re.findall(r'"([^"]+)"', packages[1]))
    return Lab(name, title.rstrip("."), fields, wanted[1], dependencies, source)


def lab(name: str) -> Lab:
    """The lab of that name."""
    path = ROOT / "labs" / f"{name}.py"
    if not path.is_file():
        raise LabError(f"there is no labs/{name}.py; there are: {', '.join(names())}")
    return parse(name, path.read_bytes())


@cache
def module(name: str) -> ModuleType:
    """The lab as a module, for what its functions print. It imports vLLM only when it runs."""
    spec = importlib.util.spec_from_file_location(f"labs_{name}", ROOT / "labs" / f"{name}.py")
    if spec is None or spec.loader is None:
        raise LabError(f"labs/{name}.py cannot be imported")
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made  # dataclasses look their module up here
    spec.loader.exec_module(made)
    return made


def site_url() -> str:
    """The public address the site is built for; empty for a site that only this machine can reach."""
    return os.environ.get("SITE_URL", "").rstrip("/")


def lab_box(name: str, root: str = "../..", on_own_page: bool = False) -> str:
    """HTML: what the lab asks, what it needs, where it is. `root` leads from the page to the site's root."""
    found = lab(name)
    rows = "".join(f"<dt>{field}</dt><dd>{escape(found.fields[field])}</dd>" for field in IN_THE_BOX)
    page = "" if on_own_page else f'<a href="{root}/labs/{found.page}/">How to run and read it</a> · '
    return (
        f'<div class="admonition baseline lab-box"><p class="admonition-title">Lab: {escape(found.title)}</p>'
        f"<p>{escape(found.fields['Question'])}</p><dl>{rows}</dl>"
        f'<p>{page}<a href="{root}/labs/{found.name}.py" download>Download {found.name}.py</a> '
        f"({len(found.source) / 1000:.0f} KB)</p>"
        f"<p>SHA-256 <code>{found.sha256}</code></p></div>"
    )


def check_and_run(name: str) -> str:
    """One line that checks the lab's file and runs it."""
    return f'echo "{lab(name).sha256}  {name}.py" | sha256sum -c && python {name}.py'


def _code(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def command_block(name: str) -> str:
    """Markdown: how the lab gets onto the machine with the card, from the site's public address or by copying."""
    there = "On the machine with the card and vLLM, in a folder you can write to,"
    if site_url():
        fetch = f"curl -fsSO {site_url()}/labs/{name}.py && {check_and_run(name)}"
        return f"{there} one line fetches the file, checks it and runs it:\n\n{_code('bash', fetch)}"
    return (
        f"[Download {name}.py]({name}.py){{ download }}, and copy it to the machine with the card, here `HOST`:\n\n"
        f"{_code('bash', f'scp {name}.py HOST:')}\n\n"
        f"{there} one line checks the file and runs it:\n\n{_code('bash', check_and_run(name))}"
    )


def settings_tabs(name: str) -> str:
    """Markdown: the lab's settings as Python and as `vllm serve`, made by the lab's own functions."""
    made = module(name)
    args = made.parser().parse_args([])
    lines = "".join(f"    {key}={value!r},\n" for key, value in {"model": args.model, **made.engine_args(args)}.items())
    python = (
        f"from vllm import LLM, SamplingParams\n\nllm = LLM(\n{lines})\n"
        f'messages = [{{"role": "user", "content": "{args.question}"}}]\n'
        f"output = llm.chat(messages, SamplingParams(max_tokens={args.max_tokens}, temperature=0))[0]\n"
        "print(output.outputs[0].text)"
    ).replace("'", '"')
    serve = made.serve_command(args).replace(" --", " \\\n    --")
    tabs = (("Python", _code("python", python)), ("vllm serve", _code("bash", serve)))
    return "\n\n".join(f'=== "{title}"\n\n' + re.sub(r"^(?=.)", "    ", body, flags=re.M) for title, body in tabs)
