"""The JSON interface: every call of the contract as a function of a few lines."""
