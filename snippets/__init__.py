"""The one home of logic, numbers and drawings: standard library only, so that it also runs in the browser."""
