"""Prints the table; names of groups as arguments choose some of them."""

import sys
from importlib import import_module

from tests.bench.row import HEADER

GROUPS = ("grading", "reference", "service")


def main() -> None:
    print(HEADER, flush=True)
    for name in sys.argv[1:] or GROUPS:
        for row in import_module(f"tests.bench.{name}").rows():
            print(row, flush=True)


if __name__ == "__main__":
    main()
