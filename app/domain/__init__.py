"""What the project is about, in plain Python: problems, answers, outcomes, reports."""
