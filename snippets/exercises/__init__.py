"""Exercises: a module `NAME.py` holds `EXERCISE`, whose name is NAME."""
