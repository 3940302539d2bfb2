"""Drawings: functions from data to SVG text in one visual language; colours are classes (stylesheets/site.css)."""
