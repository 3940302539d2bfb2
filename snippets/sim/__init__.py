"""Discrete-event simulators of the real policies: deterministic, a trace in, a list of events out."""
