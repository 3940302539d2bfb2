"""What opens below the answer: each section is one module with its own words."""
