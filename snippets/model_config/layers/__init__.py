"""From a decoder's fields to what each of its layers caches: one module per family, one table (rules.py) that picks."""
