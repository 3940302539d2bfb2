"""What the paged allocator says and draws: its sentences and its two figures."""
