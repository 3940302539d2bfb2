"""Which layers share a block table, and how their blocks lie in memory."""
