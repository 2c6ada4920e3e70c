"""Runs hostile code: inputs go in, arrays and texts come out, answers are never near.

Callers use ``Sandbox`` (``sandbox.py``) with the values of ``job.py``; the rest is its inside.
"""
