"""The pieces a model is made of, each counted for one rank."""
