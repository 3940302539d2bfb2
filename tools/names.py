"""Published names that hold a hash of the content, so that a browser may keep the files for ever; the site's hook.

The modules of docs/assets/live/ find each other by name, so their folder carries the hash: assets/live-HASH/. The style
sheets become one file in the order of mkdocs.yml: assets/site-HASH.css.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from mkdocs.config.config_options import ExtraScriptValue
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

LIVE = "assets/live/"


def short_hash(parts: Iterable[tuple[str, bytes]]) -> str:
    """Twelve hex digits for named contents, whatever their order."""
    whole = hashlib.sha256()
    for name, content in sorted(parts):
        whole.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return whole.hexdigest()[:12]


def live_folder(files: Files) -> str:
    """Give the modules their folder, and return it."""
    modules = [file for file in files if file.src_uri.startswith(LIVE)]
    folder = f"assets/live-{short_hash((file.src_uri, file.content_bytes) for file in modules)}/"
    for file in modules:
        file.dest_uri = folder + file.src_uri.removeprefix(LIVE)
    return folder


def one_sheet(paths: list[str], files: Files, config: MkDocsConfig) -> str:
    """Put one style sheet in the place of all, and return its path. Both lie one folder deep, so `url()` holds."""
    texts = []
    for path in paths:
        file = files.get_file_from_path(path)
        if file is None:
            raise PluginError(f"extra_css in mkdocs.yml names {path}, which is not in docs/")
        texts.append(file.content_bytes)
        files.remove(file)
    whole = b"".join(texts)
    path = f"assets/site-{short_hash([('', whole)])}.css"
    files.append(File.generated(config, path, content=whole))
    return path


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs before any page is written."""
    folder = live_folder(files)
    for script in config.extra_javascript:
        assert isinstance(script, ExtraScriptValue)
        script.path = script.path.replace(LIVE, folder)
    config.extra_css = [one_sheet(config.extra_css, files, config)]
    return files
