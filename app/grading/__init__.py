"""From a submission to a score that names the mistake. Trusted: it knows inputs and answers."""
