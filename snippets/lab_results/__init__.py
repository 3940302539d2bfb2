"""Results that labs write: the form they have, read without any package besides Python's own."""
