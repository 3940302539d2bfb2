"""Settings of all tests."""

from hypothesis import settings

# A busy machine must not fail a test: speed is measured elsewhere, never asserted here.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
