"""Facts as data: models, cards and quoted sources, each with where it was read."""
