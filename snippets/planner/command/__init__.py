"""`python -m snippets.planner`: the planner on the command line, with vLLM's own flags."""
