"""Problem files: YAML in, frozen problems out, errors with line and column."""
