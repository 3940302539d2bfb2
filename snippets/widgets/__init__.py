"""Interactive tools: each is one module with its controls, declared, and one pure function from state to view."""
