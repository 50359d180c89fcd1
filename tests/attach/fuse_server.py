#!/usr/bin/env python3
"""
A file system of FUSE with one file, on the kernel's interface itself: fuse_server.py FOLDER COUNTS mounts it, says
"ready", and writes into the first eight bytes of COUNTS how often it was asked to flush the file.  Whoever has
started it unmounts it while it still answers.
"""

import ctypes
import errno
import mmap
import os
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, OPENDIR, RELEASEDIR, INTERRUPT, DESTROY, BATCH_FORGET = (
    1, 2, 3, 14, 15, 18, 25, 26, 27, 29, 36, 38, 42)
ROOT, FILE = 1, 2


def attributes(node):
    mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o644
    return struct.pack("6Q10I", node, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 512, 0)


def answer(kind, node, counts):
    if kind == INIT:
        return struct.pack("IIIIHHIIHHI28x", 7, 31, 65536, 0, 1, 1, 65536, 1, 1, 0, 0)
    if kind == LOOKUP:
        return struct.pack("4Q2I", FILE, 0, 60, 60, 0, 0) + attributes(FILE)
    if kind == GETATTR:
        return struct.pack("Q2I", 60, 0, 0) + attributes(node)
    if kind in (OPEN, OPENDIR):
        return struct.pack("Q2I", 1, 0, 0)
    if kind == FLUSH:
        counts[:8] = struct.pack("Q", struct.unpack("Q", counts[:8])[0] + 1)
        return b""
    return b"" if kind in (READ, RELEASE, RELEASEDIR, DESTROY) else None


def serve(device, counts):
    while True:
        try:
            request = os.read(device, 1 << 18)
        except OSError:
            return  # it is mounted no more
        _, kind, unique, node = struct.unpack("IIQQ", request[:24])
        if kind in (FORGET, BATCH_FORGET, INTERRUPT):
            continue
        data = answer(kind, node, counts)
        head = struct.pack("IiQ", 16 + len(data or b""), 0 if data is not None else -errno.ENOSYS, unique)
        os.write(device, head + (data or b""))


def main():
    folder, path = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"limpet-test", folder.encode(), b"fuse", 0, options.encode()):
        return 1
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 8) as counts:
        print("ready", flush=True)
        serve(device, counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
