"""Plumbing that labs share; `make labs-sync` copies it into them. README.md says how."""
