"""The theme's script, under a name of its own content, with its search index fetched on use; the site's hook for it.

As it comes, the script fetches the index of all pages' words with every page, and a worker spends the processor on it.
Here that waits until the search is opened, or is asked for by the address: `?q=` searches, `?h=` marks words.
"""

from __future__ import annotations

import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files

from tools.names import short_hash

AT_ONCE = 'document.forms.namedItem("search")?ks():tt'
# In the theme's short names: Je follows a toggle, g filters, Ee takes the first, b goes on with, Z keeps the answer.
ON_USE = (
    'document.forms.namedItem("search")?/[?&][hq]=/.test(location.search)?ks()'
    ':Je("search").pipe(g(Boolean),Ee(1),b(()=>ks()),Z(1)):tt'
)
_SCRIPT = re.compile(r"assets/javascripts/bundle\.[0-9a-f]{8}\.min\.js")


def mended(script: str) -> str:
    """The script's text with the one change. Raises ValueError when the place is not there exactly once."""
    if script.count(AT_ONCE) != 1:
        raise ValueError(f"`{AT_ONCE}` stands {script.count(AT_ONCE)} times in the theme's script, not once")
    return script.replace(AT_ONCE, ON_USE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs before any page is written: overrides/main.html asks for `config.extra.theme_script`."""
    scripts = [file for file in files if _SCRIPT.fullmatch(file.src_uri)]
    if len(scripts) != 1:
        raise PluginError(f"the theme has {len(scripts)} scripts, not one: see tools/theme_script.py")
    (script,) = scripts
    try:
        script.content_string = mended(script.content_string)
    except ValueError as error:
        raise PluginError(f"{error}: see tools/theme_script.py") from error
    script.dest_uri = f"assets/javascripts/theme-{short_hash([('', script.content_bytes)])}.js"
    config.extra["theme_script"] = script.dest_uri
    return files
