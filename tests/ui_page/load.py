"""A small server under load, to be looked at: three named threads that compute, wait and sleep. Counts its turns on
standard output, once a second, so that a test sees whether it is unhurt."""

import ctypes
import sys
import threading
import time

PR_SET_NAME = 15
libc = ctypes.CDLL(None)
turns = [0]


def name_thread(name):
    libc.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def parse_request(number):
    return sum(ord(letter) for letter in f"GET /item/{number} HTTP/1.1" * 40)


def render_page(number):
    return "".join(sorted(f"{number * i % 97:02d}" for i in range(600)))


def handle(number):
    parse_request(number)
    render_page(number)
    turns[0] += 1


def serve(name, pause):
    name_thread(name)
    number = 0
    while True:
        handle(number)
        number += 1
        if number % 20 == 0:
            time.sleep(pause)


def main():
    for name, pause in (("web-worker-1", 0.002), ("web-worker-2", 0.01), ("cache-writer", 0.2)):
        threading.Thread(target=serve, args=(name, pause), daemon=True).start()
    while True:
        time.sleep(1)
        print(turns[0], flush=True)


if __name__ == "__main__":
    sys.exit(main())
