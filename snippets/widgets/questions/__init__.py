"""Questions the pages ask before they show an answer: one module per page, each with a tuple QUESTIONS."""
