"""Speed, as ratios within one run. ``make bench`` prints the table of docs/performance.md."""
