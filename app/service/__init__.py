"""``attest serve``: the API in this process, a worker beside it, and what they tell the world."""
