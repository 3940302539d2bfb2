"""Code that a reader writes in a page: run, and graded where the cell is an exercise."""
