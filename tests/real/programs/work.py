"""A threaded Python program that checks its own results: prints "done N failed N" as it goes on."""

import hashlib
import json
import queue
import threading
import time
import zlib

COUNTS_EVERY_S = 0.1
done, failed = [0] * 6, [0] * 6
channel = queue.Queue(maxsize=16)


def hashing(turn):
    data = b"%d" % turn * 2000
    return hashlib.sha256(data).digest() == hashlib.sha256(bytes(bytearray(data))).digest()


def packing(turn):
    data = (b"limpet %d " % turn) * 500
    return zlib.decompress(zlib.compress(data, 1)) == data


def objects(turn):
    value = {str(key): [key, {"square": key * key}] for key in range(turn % 50, turn % 50 + 100)}
    return json.loads(json.dumps(value)) == value


def sorting(turn):
    values = [(turn * key * 7919) % 10007 for key in range(2000)]
    ordered = sorted(values)
    return all(a <= b for a, b in zip(ordered, ordered[1:])) and sum(ordered) == sum(values)


def sending(turn):
    channel.put((turn, turn * turn))
    time.sleep(0.0005)
    return True


def receiving(_):
    number, square = channel.get()
    return square == number * number


def repeat(index, job):
    turn = 0
    while True:
        turn += 1
        failed[index] += not job(turn)
        done[index] += 1


for index, job in enumerate((hashing, packing, objects, sorting, sending, receiving)):
    threading.Thread(target=repeat, args=(index, job), name=job.__name__, daemon=True).start()
while True:
    time.sleep(COUNTS_EVERY_S)
    print(f"done {sum(done)} failed {sum(failed)}", flush=True)
