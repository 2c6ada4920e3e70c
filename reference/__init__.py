"""The reference Transformer."""
