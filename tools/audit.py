"""`make audit`: known faults of the dependencies, where the services that know them can be reached, and all licences.

Python packages are those installed here from requirements/*.lock, the auditor's own among them; npm's are those of
package-lock.json. The status is 1 for a known fault, and for a licence that is not in ALLOWED.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from tools import kept

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("site", "test", "audit")
REQUIREMENTS = ROOT / "requirements"
AUDITOR = kept.CACHE / "audit"
UNREACHED = "could not be reached"

# SPDX names. Dependencies run while the site is built and tested; what it ships stands in docs/about/licences.md.
ALLOWED = frozenset(
    (
        "MIT",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "Apache-2.0",
        "ISC",
        "0BSD",
        "PSF-2.0",
        "MPL-2.0",
        "OFL-1.1",
        "BlueOak-1.0.0",
    )
)
# What packages call them who do not use the SPDX name.
SPDX = {
    "mit license": "MIT",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
}
# Packages that state none by a name; read in their LICENSE.
STATED_ELSEWHERE = {"parse-cache-control": "BSD-3-Clause"}


@dataclass(frozen=True, order=True)
class Package:
    """One dependency, and under which licence it says it is."""

    source: str
    name: str
    version: str
    licence: str

    @property
    def is_allowed(self) -> bool:
        """Whether one of its choices is allowed whole."""
        choices = re.split(r"\s+OR\s+", self.licence.replace("(", "").replace(")", ""))
        return any(all(part in ALLOWED for part in re.split(r"\s+AND\s+", choice)) for choice in choices)


def spdx(named: Iterable[str]) -> str:
    """The first of these names that is known; the first at all when none is; empty without any."""
    names = [name.strip() for name in named if name.strip() and name.strip() != "UNKNOWN"]
    known = (SPDX.get(name.lower(), name if name in ALLOWED else "") for name in names)
    return next(filter(None, known), names[0].splitlines()[0][:60] if names else "")


def python_licence(found: Distribution) -> str:
    """The SPDX expression of a package, or what its other fields say."""
    said = found.metadata
    if expression := said.get_all("License-Expression"):
        return str(expression[0])
    classes = [one.rpartition("::")[2] for one in said.get_all("Classifier") or [] if "License ::" in one]
    return spdx([*(said.get_all("License") or []), *classes])


def installed_in() -> list[Path]:
    """Folders of this environment's packages and of the auditor's."""
    return [*(Path(path) for path in sys.path if path.endswith("site-packages")), *AUDITOR.glob("lib/*/site-packages")]


def python_packages(folders: Iterable[Path]) -> Iterator[Package]:
    """What is installed in these folders."""
    for found in distributions(path=[str(folder) for folder in folders]):
        name = found.metadata["Name"]
        yield Package("Python", name, found.version, python_licence(found) or STATED_ELSEWHERE.get(name, ""))


def npm_packages() -> Iterator[Package]:
    """What package-lock.json names."""
    for place, one in json.loads((ROOT / "package-lock.json").read_text())["packages"].items():
        if place:
            name = place.rpartition("node_modules/")[2]
            yield Package("npm", name, one["version"], one.get("license") or STATED_ELSEWHERE.get(name, ""))


def auditor() -> Path:
    """pip-audit in an environment of its own. Raises CalledProcessError when it cannot be installed."""
    lock = REQUIREMENTS / "audit.lock"
    stamp = AUDITOR / kept.digest_of([lock])
    if not stamp.exists():
        venv.create(AUDITOR, with_pip=True, clear=True)
        python = str(AUDITOR / "bin" / "python")
        command = [python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(lock)]
        subprocess.run(command, check=True, capture_output=True, text=True)
        stamp.touch()
    return AUDITOR / "bin" / "pip-audit"


def last_line(text: str) -> str:
    """Where a program says why it stopped."""
    return ([line.strip() for line in text.splitlines() if line.strip()] or ["no reason given"])[-1][:200]


def python_faults(lock: Path) -> list[str]:
    """Known faults of what a lock names. Raises ConnectionError when nobody can say."""
    options = ["--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    try:
        done = subprocess.run([auditor(), "-r", lock, *options], capture_output=True, text=True)
        found: dict[str, Any] = json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        raise ConnectionError(f"pip-audit was not installed: {last_line(error.stderr)}") from error
    except json.JSONDecodeError as error:
        raise ConnectionError(last_line(done.stderr)) from error
    return [
        f"{one['name']} {one['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'no version'}"
        for one in found["dependencies"]
        for fault in one.get("vulns", [])
    ]


def npm_faults() -> list[str]:
    """Known faults of what package-lock.json names. Raises ConnectionError when nobody can say."""
    done = subprocess.run(["npm", "audit", "--json"], cwd=ROOT, capture_output=True, text=True)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise ConnectionError(last_line(done.stderr)) from error
    if "vulnerabilities" not in found:
        raise ConnectionError(str(found.get("message") or last_line(done.stderr)))
    faults: dict[str, Any] = found["vulnerabilities"]
    return [f"{name}: {one['severity']}, in {one['range']}" for name, one in faults.items()]


def main() -> int:
    questions = [
        (f"requirements/{name}.lock", lambda name=name: python_faults(REQUIREMENTS / f"{name}.lock")) for name in LOCKS
    ]
    wrong = False
    for what, faults in [*questions, ("package-lock.json", npm_faults)]:
        try:
            found = faults()
        except ConnectionError as error:
            print(f"{what}: known faults were NOT checked, the service {UNREACHED}: {error}")
            continue
        print(f"{what}: {len(found)} known faults", *found, sep="\n  ")
        wrong |= bool(found)
    packages = sorted({*python_packages(installed_in()), *npm_packages()})
    print(f"\nLicences of {len(packages)} packages:")
    for one in packages:
        print(f"  {one.source:6}  {one.name} {one.version}: {one.licence or 'none stated'}")
    refused = [one for one in packages if not one.is_allowed]
    for one in refused:
        licence = one.licence or "none stated"
        print(f"\n{one.name} {one.version} is under {licence!r}, which is not allowed: see ALLOWED in tools/audit.py")
    return 1 if wrong or refused else 0


if __name__ == "__main__":
    sys.exit(main())
