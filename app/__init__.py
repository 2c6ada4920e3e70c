"""Attest: the grader."""
