"""Parts of the widget that sets a reader's own run beside its prediction."""
