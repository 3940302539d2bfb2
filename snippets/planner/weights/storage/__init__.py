"""How matrices are stored: plain, or quantised with their scales and zero points."""
