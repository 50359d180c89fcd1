"""
Makes files that a stranger would lay in the way: recordings chunk by chunk, ELF files whose headers promise too much,
pipes that tell whether somebody opened them, programs in a root of their own.
"""

import ctypes
import os
import struct
import threading
import zlib

CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE, MNT_DETACH = 0x4000, 1 << 18, 2


class Canary:
    """A pipe in the file system.  `was_opened` when anybody opened it for reading."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.was_opened = False
        self.thread = threading.Thread(target=self._wait, daemon=True)
        self.thread.start()

    def _wait(self):
        os.close(os.open(self.path, os.O_WRONLY))
        self.was_opened = True

    def close(self):
        """Whether it was opened until now."""
        answer = self.was_opened
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.thread.join(10)
        os.close(reader)
        return answer


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(value)) + value + b"\0"


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def zigzag(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def chunk(kind, payload, raw_length=0):
    head = struct.pack("<4sHHIII", b"chnk", kind, 1, len(payload), raw_length, zlib.crc32(payload))
    return head + struct.pack("<I", zlib.crc32(head)) + payload


HEAD = b"limpet\r\n" + struct.pack("<II", 1, 0)
SESSION = chunk(1, b"".join(text(word) for word in ("1", "host", "linux", "machine", "command", "")))
PROCESS = chunk(2, struct.pack("<IiQ", 0, 42, 0) + text("name") + text("/bin/name") + text("name"))
THREAD = chunk(3, struct.pack("<IIiQ", 0, 0, 42, 1) + text("name"))


def clock(ns):
    return chunk(6, struct.pack("<QQQQQQ", ns, 1000000000, ns, ns, ns, ns))


def unnamed_sample(path, build_id):
    """A recording with one sample in this file, whose name is still to be looked for."""
    sampling = text("copy") + text("") + struct.pack("<IIQQI", 99, 1, 1, 0, 8) + struct.pack("<Q", 1) + bytes(56)
    code = struct.pack("<IIIII", 0, 1, 1, 0xFFFFFFFF, len(build_id)) + build_id + text(path)
    frame = struct.pack("<II", 0, 1) + varint(0) + zigzag(0x1000)
    stack = struct.pack("<II", 0, 1) + varint(0) + zigzag(0)
    sample = struct.pack("<II", 0, 1) + varint(0) + varint(0) + zigzag(5000) + zigzag(1000) + varint(0) + zigzag(1)
    return (HEAD + SESSION + PROCESS + THREAD + clock(1000) + chunk(12, sampling) + chunk(13, code) + chunk(14, frame) +
            chunk(15, stack) + chunk(16, sample) + clock(9000))


def packed(head, byte, size):
    """A zstd frame of `head` and then one byte again and again: four bytes for each 128 KiB."""
    frame = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(head) + size)
    frame += struct.pack("<I", len(head) << 3)[:3] + head
    while size:
        part = min(size, 128 << 10)
        size -= part
        frame += struct.pack("<I", part << 3 | 1 << 1 | (not size))[:3] + byte
    return frame


def bomb(chunks):
    """A recording whose few bytes are millions of calls, each of which began before the one before it."""
    functions = struct.pack("<III", 0, 0, 2) + (b"\x03\x01\x01" + text("f") + text("lib")) * 2
    data = HEAD + SESSION + PROCESS + THREAD + clock(1000) + chunk(4, functions)
    count = ((16 << 20) - 16) // 6
    for number in range(chunks):
        # a call: kind 1, one value, function 1, its end, how long it took, the value: all of them 1
        payload = packed(struct.pack("<IIII", 0, number, count, 0), b"\x01", count * 6)
        data += chunk(7, payload, 16 + count * 6)
    return data + clock(9000), count * chunks


class Elf:
    """The section headers of a 64-bit ELF file, to be lied with."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            data = file.read()
        self.headers, = struct.unpack_from("<Q", data, 0x28)
        self.count, self.names = struct.unpack_from("<HH", data, 0x3C)
        at, = struct.unpack_from("<Q", data, self.headers + self.names * 64 + 24)
        self.sections = {}
        for i in range(self.count):
            name, = struct.unpack_from("<I", data, self.headers + i * 64)
            self.sections[data[at + name:data.index(b"\0", at + name)].decode()] = i

    def set(self, section, offset, size):
        """Says where the section lies and how long it is."""
        with open(self.path, "r+b") as file:
            file.seek(self.headers + self.sections[section] * 64 + 24)
            file.write(struct.pack("<QQ", offset, size))

    def promise(self, section, size):
        """The section gets so many bytes behind the end of the file, where nothing is written: a hole."""
        begin = (os.path.getsize(self.path) + 4095) & ~4095
        os.truncate(self.path, begin + size)
        self.set(section, begin, size)

    def put(self, at, data):
        with open(self.path, "r+b") as file:
            file.seek(at)
            file.write(data)

    def replace(self, section, data):
        """The section gets other bytes, at the end of the file."""
        begin = (os.path.getsize(self.path) + 4095) & ~4095
        self.put(begin, data)
        self.set(section, begin, len(data))

    def pack(self, section, size):
        """The section becomes that many zeroes, packed by zlib: a thousandth of them."""
        packer = zlib.compressobj(1)
        packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()
        self.replace(section, struct.pack("<IIQQ", 1, 0, size, 1) + packed)
        self.put(self.headers + self.sections[section] * 64 + 8, struct.pack("<Q", 0x800))

    def promise_sections(self, count):
        """So many section headers, nearly all of them in a hole; the first one has their number."""
        begin = (os.path.getsize(self.path) + 4095) & ~4095
        with open(self.path, "rb") as file:
            file.seek(self.headers)
            headers = file.read(self.count * 64)
        self.put(begin, headers)
        os.truncate(self.path, begin + count * 64)
        self.put(begin + 32, struct.pack("<Q", count))
        self.put(0x28, struct.pack("<Q", begin))
        self.put(0x3C, struct.pack("<H", 0))

    def code(self):
        """The address and the number of its section."""
        number = self.sections[".text"]
        with open(self.path, "rb") as file:
            file.seek(self.headers + number * 64 + 16)
            address, _, size = struct.unpack("<QQQ", file.read(24))
        return address, size, number

    def symbols(self, count):
        """A table of that many functions, each with the longest name that there is."""
        address, size, number = self.code()
        return bytes(24) + b"".join(struct.pack("<IBBHQQ", 1, 0x12, 0, number, address + i % size, 1)
                                    for i in range(count))

    def bury(self, info, abbreviations, depth):
        """Debug information of one unit, in which each block holds the next."""
        address, size, _ = self.code()
        abbreviation = (b"\x01\x11\x01\x11\x01\x12\x07\0\0"  # a unit: low_pc, high_pc as 8 bytes
                        b"\x02\x0b\x01\0\0"  # a block, with children
                        b"\x03\x0b\x01\x11\x01\x12\x07\0\0\0")  # the same with addresses
        extent = struct.pack("<QQ", address, size)
        unit = b"\x01" + extent + (b"\x03" + extent) * (depth // 10) + b"\x02" * depth + bytes(depth + depth // 10 + 1)
        self.replace(abbreviations, abbreviation)
        self.replace(info, struct.pack("<IHIB", len(unit) + 7, 4, 0, 8) + unit)


class Silence:
    """A file system in user space that says hello and then never answers, as a user may mount it for all."""

    def __init__(self):
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        os.set_inheritable(self.fd, True)

    def greet(self):
        unique, = struct.unpack_from("<Q", os.read(self.fd, 1 << 20), 8)
        os.write(self.fd, struct.pack("<IiQ", 80, 0, unique) + struct.pack("<IIIIHHI", 7, 31, 0, 0, 1, 1, 4096) + bytes(40))

    def mount(self, folder):
        """Where only this process and its children see it."""
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.fd},rootmode=40000,user_id=1000,group_id=1000,allow_other".encode()
        if (libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) or
                libc.mount(b"silence", folder.encode(), b"fuse", 0, options)):
            raise OSError(ctypes.get_errno(), "mount")

    def close(self):
        os.close(self.fd)


def enter_root(folder):
    """From here on the folder is the root of this process, in a mount namespace of its own, with nothing else in it."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(answer):
        if answer:
            raise OSError(ctypes.get_errno(), "enter_root")

    call(libc.unshare(CLONE_NEWNS))
    call(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    call(libc.mount(folder.encode(), folder.encode(), None, 4096 | MS_REC, None))
    os.mkdir(folder + "/before")
    os.chdir(folder)
    call(libc.pivot_root(b".", b"before"))
    os.chdir("/")
    call(libc.umount2(b"/before", MNT_DETACH))
