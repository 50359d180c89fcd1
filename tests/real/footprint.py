"""What a process looks like from outside: its memory, descriptors, threads, and its words of imports."""

import os
import pathlib
import re
import struct
import subprocess

WORD = 8
LISTENS = "0A"


def status(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: text.strip() for key, text in (line.split(":", 1) for line in lines)}


def kib(pid, key):
    return int(status(pid)[key].split()[0])


# jemalloc has one for each of its arenas, and makes an arena when threads of ours allocate too.
ALLOCATOR_THREADS = ("jemalloc_bg_thd",)


def threads(pid):
    """Thread numbers with their names."""
    names = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            names[int(tid)] = pathlib.Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()
        except OSError:
            pass
    return names


def cpu_s(pid):
    """Processor time of all its threads."""
    spent_ns = 0
    for tid in threads(pid):
        try:
            spent_ns += int(pathlib.Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0])
        except OSError:
            pass
    return spent_ns / 1e9


def client_sockets(pid):
    """TCP sockets that are connected: clients come and go."""
    lines = pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    return {f"socket:[{words[9]}]" for words in map(str.split, lines) if words[3] != LISTENS}


def is_file(name):
    """In a file system: the server's own, which it opens and closes as it goes."""
    return name.startswith("/") and not name.startswith("/memfd:")


def descriptors(pid):
    """What is open, but for clients and files."""
    found, clients = [], client_sockets(pid)
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{number}"))
        except OSError:
            pass
    return sorted(name for name in found if name not in clients and not is_file(name))


def modules(pid):
    """The ELF files that are mapped, with the address of their first page."""
    found = {}
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5].startswith("/") and int(words[2], 16) == 0:
            found.setdefault(words[5], int(words[0].split("-")[0], 16))
    return {path: start for path, start in found.items() if is_elf(path)}


def is_elf(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def tables_of(path):
    """Address and size of the tables of imports, as linked; and the lowest address of all."""
    listing = subprocess.run(["readelf", "-lSW", path], capture_output=True, text=True).stdout
    tables = re.findall(r"\] \.got\S*\s+PROGBITS\s+(\S+) \S+ (\S+)", listing)
    starts = [int(found, 16) for found in re.findall(r"LOAD\s+\S+ (0x\S+)", listing)]
    return [(int(at, 16), int(size, 16)) for at, size in tables], min(starts, default=0) & -4096


def import_words(pid):
    """Every word of every table of imports: (path, address as linked) to value."""
    words = {}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for path, start in modules(pid).items():
            tables, lowest = tables_of(path)
            for at, size in tables:
                memory.seek(start - lowest + at)
                values = struct.unpack(f"<{size // WORD}Q", memory.read(size // WORD * WORD))
                words.update({(path, at + i * WORD): value for i, value in enumerate(values)})
    return words


class Footprint:
    def __init__(self, pid):
        self.size_kib, self.private_kib = kib(pid, "VmSize"), kib(pid, "RssAnon")
        self.descriptors = descriptors(pid)
        self.threads = {tid: name for tid, name in threads(pid).items() if name not in ALLOCATOR_THREADS}
        self.modules, self.words = modules(pid), import_words(pid)

    def words_changed_since(self, before):
        """Words that the loader had not bound yet may be bound since."""
        return [
            (pathlib.Path(path).name, hex(at), hex(value), hex(self.words.get((path, at), 0)))
            for (path, at), value in before.words.items()
            if self.words.get((path, at)) != value and not before.is_unbound(path, value)
        ]

    def is_unbound(self, path, value):
        """It leads into its own module, to the code that calls the loader."""
        start = self.modules[path]
        return start < value < min((other for other in self.modules.values() if other > start), default=1 << 64)
