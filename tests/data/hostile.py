"""What a reader, or who sends a reader a link, may put into a field: text that runs, hides, breaks or never ends."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

RAN = "window.hostile=1"  # a browser in which any of these ran says so

SCRIPTS = {
    "script": f"<script>{RAN}</script>",
    "closed field": f'"></textarea></select></title><script>{RAN}</script><img src=x onerror={RAN}>',
    "image": f"<img src=x onerror='{RAN}'>",
    "svg": f"<svg onload={RAN}><animate onbegin={RAN} attributeName=x dur=1s /></svg>",
    "svg script": f"<svg xmlns='http://www.w3.org/2000/svg'><script>{RAN}</script></svg>",
    "address": f"javascript:{RAN}",
    "data address": f"data:text/html,<script>{RAN}</script>",
    "entities": f"&lt;script&gt;{RAN}&lt;/script&gt;&#0;&amp;",
    "comment": f"--><script>{RAN}</script><!--",
    "cdata": f"]]><script>{RAN}</script>",
    "template": "${alert(1)}{{7*7}}{reason}{settings}{0.__class__}%s%(x)s$&$1$`",
}
KEYS = {name: name for name in ("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__class__")}
CHARACTERS = {
    "right to left": "\u202e53\u202c",
    "marks": "\u200f\u2066" + "53\u2069",
    "zero width": "5\u200b3",
    "byte order": "\ufeff53",
    "combining": "e\u0301" * 200,
    "stacked": "5" + "\u0335\u0321\u0489" * 300,
    "emoji": "👩\u200d👩\u200d👧\u200d👦" * 20,
    "other digits": "５３",
    "arabic digits": "٥٣",
    "superscript": "5³",
    "null": "5\x003",
    "control": "\x1b[31m\x07\x08\x7f",
    "lines": "5\r\n3\u2028\u2029\x0b\x0c",
    "not a character": "\uffff\ufdd0",
    "last plane": "\U0010ffff",
}
SURROGATES = {"high": "\ud800", "low": "5\udc003", "wrong order": "\udfff\ud800"}
NUMBERS = {
    text[:20]: text
    for text in (
        *(
            "NaN",
            "nan",
            "-nan",
            "Infinity",
            "-inf",
            "1e309",
            "-1e309",
            "1e308",
            "-1e308",
            "1e-400",
            "5e-324",
            "-0",
            "0",
        ),
        *("1" + "0" * 400, "9" * 39, "-" + "9" * 38, "1e999999999", "0x35", "0b1", "1_0", "1,0", "1.5.5", "5,3", "½"),
        *(".", "+", "-", "e", "1e", "", " ", "\t53\n", "53%", "5 3", "1e2", "0.1", "9007199254740993", "1/0", "53j"),
    )
}
LINKS = {
    "fragment": "1&memory_cliff=batch:2#x?y=z",
    "not encoded": "%E0%A4%A%00%2",
    "separators": ",:&=;/\\",
    "handle": '["text 1"]',
}
SHORT: Mapping[str, str] = {**SCRIPTS, **KEYS, **CHARACTERS, **NUMBERS, **LINKS}

FIVE_MB = 5 * 10**6
LONG: Mapping[str, str] = {
    "one line": "x" * FIVE_MB,
    "one number": "1" * FIVE_MB,
    "spaces": " " * FIVE_MB,
    "lines": "\n" * FIVE_MB,
    "tags": "<b>" * (FIVE_MB // 3),
    "wide": "\U0001f600" * (FIVE_MB // 4),
    "quoted": '{"architectures": ["' + "x" * FIVE_MB + '"]}',
}
DEPTH = 10_000
JSON: Mapping[str, str] = {
    "deep arrays": "[" * DEPTH + "]" * DEPTH,
    "deep objects": '{"a":' * DEPTH + "1" + "}" * DEPTH,
    "never closed": "[" * 100_000,
    "deep in a config": '{"model_type": "llama", "rope_scaling": ' + '{"a":' * DEPTH + "1" + "}" * DEPTH + "}",
    "huge array": '{"layer_types": [' + "0," * 500_000 + "0]}",
    "many keys": "{" + ",".join(f'"k{i}": {i}' for i in range(100_000)) + "}",
    "keys twice": '{"num_hidden_layers": 1, "num_hidden_layers": 2, "__proto__": {"x": 1}, "__proto__": 2}',
    "long number": '{"num_hidden_layers": 1' + "0" * 5000 + "}",
    "wrong": "{'a': 1}",
    "cut": '{"architectures": ["Llama',
    "byte order": '\ufeff{"model_type": "llama"}',
    "null": '{"model_type": "lla\x00ma"}',
    "null escaped": '{"model_type": "lla\\u0000ma"}',
    "surrogate escaped": '{"model_type": "\\ud800", "architectures": ["\\udc00"]}',
    "not an object": "[1, 2]",
    "number": "NaN",
    "string": '"' + SCRIPTS["image"] + '"',
    "two": '{"a": 1}{"b": 2}',
    "comment": '{"a": 1 /* no */}',
    "keys that are none": json.dumps({**KEYS, "": 1, "\u202e": 2, SCRIPTS["script"]: 3}),
}
# In place of a field's value, as JSON text.
VALUES = (
    *(
        "-1",
        "0",
        "1",
        "1.5",
        "1e308",
        "1e309",
        "-1e309",
        "NaN",
        "Infinity",
        "-Infinity",
        "1" + "0" * 400,
        "true",
        "null",
    ),
    *("2147483648", "9223372036854775808", '""', '"8"', "[]", "[1]", "{}", "[[[]]]", '{"a": {"b": 1}}'),
    *(json.dumps(SCRIPTS["image"]), '"\\u202e"', '"__proto__"', '{"__proto__": 1}'),
)


def bent(config: Mapping[str, Any], keys: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
    """A config with one field after another bent or removed, those inside a field too: (what was done, the text)."""
    for key, value in config.items():
        if keys is not None and key not in keys:
            continue
        rest = {name: one for name, one in config.items() if name != key}
        yield f"without {key}", json.dumps(rest)
        head = json.dumps(rest)[:-1] + (", " if rest else "")
        for text in VALUES:
            yield f"{key} = {text[:20]}", f"{head}{json.dumps(key)}: {text}}}"
        if isinstance(value, dict):
            for what, inner in bent(value):
                yield f"{key}: {what}", f"{head}{json.dumps(key)}: {inner}}}"
