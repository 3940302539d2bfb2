"""Parts of the memory cliff: what can be set, the presets, and the numbers a state stands for."""
