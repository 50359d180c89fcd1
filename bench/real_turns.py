"""
For the programs of bench/real.py: counts turns in the first word of the file that it is given, and writes the processor time that
the thread used for each into the words behind it, in a circle.
"""

import mmap
import sys
import threading
import time

WORDS = 1 << 14


def count(turn):
    # As in most programs, there is another thread: libc knows that it must lock, with or without a profiler.
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    with open(sys.argv[1], "r+b") as file:
        words = memoryview(mmap.mmap(file.fileno(), (WORDS + 1) * 8)).cast("Q")
    before = time.thread_time_ns()
    while True:
        turn()
        now = time.thread_time_ns()
        words[1 + words[0] % WORDS] = now - before
        words[0] += 1
        before = now
