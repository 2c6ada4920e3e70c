"""What the JSON interface and the pages share: who asks, what they may, and how errors look."""
