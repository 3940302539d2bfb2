"""Drawings: functions from data to SVG text, in one visual language. Colours are classes, set in stylesheets/site.css."""
