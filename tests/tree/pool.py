#!/usr/bin/env python3
"""
A pool of processes whose workers are replaced by new ones all the time.  Says "ready", waits for a line, works,
and prints what each task saw: the worker's number, whether limpet was in it, the square.

usage: pool.py fork|spawn|forkserver FOLDER    where files with their numbers tell workers that they are attached
"""

import json
import multiprocessing
import os
import sys
import time


def has_limpet():
    names = []
    for tid in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{tid}/comm") as file:
                names.append(file.read())
        except FileNotFoundError:  # a thread of limpet's that lives for one call
            pass
    return "limpet\n" in names


def task(number):
    time.sleep(0.05)
    return os.getpid(), has_limpet(), number * number


def patient_task(arguments):
    """On a machine however busy: until limpet has come."""
    folder, number = arguments
    end = time.monotonic() + 60
    while not os.path.exists(os.path.join(folder, str(os.getpid()))) and time.monotonic() < end:
        time.sleep(0.02)
    return task(number)


def main():
    context, folder = multiprocessing.get_context(sys.argv[1]), sys.argv[2]
    with context.Pool(3, maxtasksperchild=2) as pool:
        pool.map(task, range(3), chunksize=1)
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(pool.map(patient_task, [(folder, number) for number in range(24)], chunksize=1)), flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
