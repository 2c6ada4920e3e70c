"""A warm process that forks children which end at once: the floor under every grading.

Has imported what the sandbox's zygote has imported, with the same huge pages. Answers each line
on stdin with the seconds that one fork, exit and wait took.
"""

import gc
import os
import sys
import time

from app.sandbox import hugepages, runner


def main() -> None:
    runner.warm_up()
    gc.collect()
    gc.freeze()
    hugepages.collapse()
    print("warm", flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
