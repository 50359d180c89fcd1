"""Functions of an ELF file by address: as nm says, or by the symbol table itself where there is no nm."""

import re
import shutil
import struct
import subprocess

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
SYMTAB, FUNCTION = 2, 2


def sections(data):
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    return [SECTION.unpack_from(data, offset + size * index) for index in range(count)]


def plain_name(name):
    """Of a C++ function in no namespace: its own name, as nm --demangle begins."""
    match = re.match(r"_Z(\d+)", name)
    return name[match.end():match.end() + int(match[1])] if match else name


def read_table(path):
    """(address, name) of each function that is defined there."""
    with open(path, "rb") as file:
        data = file.read()
    found, parts = [], sections(data)
    for _, kind, _, _, offset, size, link, *_ in parts:
        if kind != SYMTAB:
            continue
        names = parts[link][4]
        for at in range(offset, offset + size, SYMBOL.size):
            name, info, _, section, address, _ = SYMBOL.unpack_from(data, at)
            if info & 15 == FUNCTION and section:
                text = data[names + name:data.index(b"\0", names + name)].decode()
                found.append((address, plain_name(text)))
    return found


def ask_nm(path):
    text = subprocess.run(["nm", "--defined-only", "--demangle", path], capture_output=True, text=True, check=False).stdout
    found = (re.match(r"([0-9a-f]+) [tTwW] ([\w$.]+)", line) for line in text.splitlines())
    return [(int(match[1], 16), match[2]) for match in found if match]


def functions(path):
    return sorted(ask_nm(path) if shutil.which("nm") else read_table(path))
