"""Words, tables and code in a widget's results: a small tree that Python and the browser write alike."""
