"""What the checkpoint decides: its class and its quantization."""
