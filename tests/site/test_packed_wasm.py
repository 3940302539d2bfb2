"""A host that packs nothing on the way still sends few bytes of WebAssembly; a host that packs sends its own."""

from __future__ import annotations

import pytest
from conftest import SITE, Opens, live
from watch import Watch

from tools import transfer

PAGE = "explore/kv-cache/"
PACKED = next((SITE / "assets" / "python").glob("packed-*.wasm"))
WHOLE = next(SITE.glob("assets/pyodide-*/pyodide.asm.wasm"))


def test_the_packed_file_is_about_a_third() -> None:
    assert PACKED.stat().st_size < 0.4 * WHOLE.stat().st_size


@pytest.mark.parametrize("packs", [True, False])
def test_the_packed_file_is_fetched_where_the_host_packs_nothing(
    packs: bool, site: str, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not packs:
        monkeypatch.setattr(transfer, "packed", lambda file: None)
    page = opens.fresh()
    names: list[str] = []
    page.context.on("request", lambda request: names.append(request.url.rpartition("/")[2]))
    page.goto(site + PAGE)
    live(page)
    assert (PACKED.name in names) == (not packs)


@pytest.mark.parametrize("status", [404, 500])
def test_without_the_packed_file_the_whole_one_does(
    status: int, site: str, opens: Opens, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.expected += [str(status)]
    monkeypatch.setattr(transfer, "packed", lambda file: None)
    page = opens.fresh()
    page.context.route("**/packed-*.wasm", lambda route: route.fulfill(status=status))
    page.goto(site + PAGE)
    live(page)
