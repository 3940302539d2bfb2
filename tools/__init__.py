"""The site's own build steps: assets, Markdown formats, policy, local server."""
