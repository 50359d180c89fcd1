"""A program whose Python stacks are known: each way leads to burn(), for ever.

Arguments: names of ways; the first one ("all": each in turn) on the main thread, the others each on a thread
of their own.
"""

import sys
import threading


def burn():
    total = 0
    for i in range(20000):
        total += i * i % 7
    return total


def inner():
    return burn()


def middle():
    return inner()


def nested():
    return middle()


def produce():
    for _ in range(3):
        yield burn()


def generator():
    for _ in produce():
        pass


def comprehension():
    return [burn() for _ in range(3)]


def recursion(depth=40):
    if depth:
        return recursion(depth - 1)
    return burn()


def by_burning(item):
    burn()
    return item


def callback():
    return sorted([3, 1, 2], key=by_burning)


class Worker:
    def method(self):
        return burn()

    @property
    def result(self):
        return self.method()


def methods():
    return Worker().result


def größe():
    return burn()


def unicode_names():
    return größe()


def closing():
    def enclosed():
        return burn()

    return enclosed()


async def awaited():
    return burn()


async def awaiting():
    return await awaited()


def coroutines():
    try:
        awaiting().send(None)
    except StopIteration:
        pass


WAYS = {
    "nested": nested,
    "generator": generator,
    "comprehension": comprehension,
    "recursion": recursion,
    "callback": callback,
    "methods": methods,
    "unicode_names": unicode_names,
    "closing": closing,
    "coroutines": coroutines,
}


def go(ways):
    while True:
        for way in ways:
            WAYS[way]()


def main():
    for name in sys.argv[2:]:
        threading.Thread(target=go, args=((name,),), daemon=True).start()
    go(WAYS if sys.argv[1] == "all" else (sys.argv[1],))


main()
