"""The built-in submissions: one right, one with a well-known mistake."""
