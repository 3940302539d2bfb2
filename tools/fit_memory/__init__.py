"""Fits what snippets/planner/memory cannot count from the code, and measures how well the estimate does."""
