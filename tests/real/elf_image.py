"""One ELF file of x86-64: where its functions lie, what it imports and exports, its bytes by address.

Of unwind tables only the extents of functions are read, none of their rules.
"""

import bisect
import collections
import pathlib
import struct

PT_LOAD = 1
SHT_SYMTAB, SHT_RELA, SHT_DYNSYM = 2, 4, 11
STT_FUNC, STT_IFUNC = 2, 10
IRELATIVE = 37
STUB_SIZE = 16
EXECUTABLE = 1
DATAREL_TABLE = 0x3B  # the only encoding that linkers write: signed, 4 bytes, from the section's begin

Section = collections.namedtuple("Section", "name kind address offset size link entry_size")
Function = collections.namedtuple("Function", "start end")


class Image:
    def __init__(self, path):
        self.path, self.bytes = path, pathlib.Path(path).read_bytes()
        if self.bytes[:5] != b"\x7fELF\x02":
            raise ValueError(f"{path} is no 64-bit ELF file")
        self.entry, segments, sections = struct.unpack_from("<QQQ", self.bytes, 24)
        sizes = struct.unpack_from("<HHHHH", self.bytes, 54)
        self.segments = list(self.read_segments(segments, *sizes[:2]))
        self.sections = self.read_sections(sections, *sizes[2:])
        self.exports, self.imports, starts = collections.defaultdict(list), {}, set()
        for section in self.sections:
            if section.kind in (SHT_SYMTAB, SHT_DYNSYM):
                starts |= self.read_symbols(section)
        for section in self.sections:
            if section.kind == SHT_RELA:
                self.read_relocations(section)
        self.stubs = [s for s in self.sections if s.name.startswith(".plt")]
        self.read_functions(starts)

    def read_segments(self, offset, size, count):
        for number in range(count):
            kind, flags, at, address, _, length = struct.unpack_from("<IIQQQQ", self.bytes, offset + number * size)
            if kind == PT_LOAD:
                yield address, at, length, bool(flags & EXECUTABLE)

    def read_sections(self, offset, size, count, names):
        raw = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, offset + i * size) for i in range(count)]
        if not raw:
            return []
        base = raw[names][4]
        return [Section(self.text(base + s[0]), s[1], s[3], s[4], s[5], s[6], s[9]) for s in raw]

    def text(self, offset):
        return self.bytes[offset:self.bytes.index(b"\0", offset)].decode(errors="replace")

    def section(self, name):
        return next((section for section in self.sections if section.name == name), None)

    def symbols(self, section):
        data = self.bytes[section.offset:section.offset + section.size]
        return struct.iter_unpack("<IBBHQQ", data[:len(data) // 24 * 24])

    def read_symbols(self, section):
        """Where functions begin; what they are called counts for those that others can import."""
        starts, names = set(), self.sections[section.link].offset
        for name, info, _, index, value, _ in self.symbols(section):
            if index and info & 15 in (STT_FUNC, STT_IFUNC):
                starts.add(value)
                if section.kind == SHT_DYNSYM:
                    self.exports[self.text(names + name)].append((value, info & 15 == STT_IFUNC))
        return starts

    def read_relocations(self, section):
        """Names of imports by the address of their pointer; the address of the resolver for what this file chooses when it is loaded."""
        table = self.sections[section.link]
        names = self.sections[table.link].offset if table.kind == SHT_DYNSYM else 0
        data = self.bytes[section.offset:section.offset + section.size]
        for at, info, value in struct.iter_unpack("<QQq", data):
            if info & 0xFFFFFFFF == IRELATIVE:
                self.imports[at] = value
            elif info >> 32 and names:
                symbol, = struct.unpack_from("<I", self.bytes, table.offset + (info >> 32) * 24)
                self.imports[at] = self.text(names + symbol)

    def read_functions(self, starts):
        """Extents by .eh_frame_hdr; what it leaves out is cut where symbols begin."""
        self.extents = dict(self.read_extents())
        self.starts = sorted(starts | set(self.extents))

    def read_extents(self):
        header = self.section(".eh_frame_hdr")
        if not header or self.bytes[header.offset + 3] != DATAREL_TABLE:
            return
        count, = struct.unpack_from("<I", self.bytes, header.offset + 8)
        table = self.bytes[header.offset + 12:header.offset + 12 + 8 * count]
        for start, entry in struct.iter_unpack("<ii", table):
            size, = struct.unpack_from("<I", self.bytes, self.offset(header.address + entry) + 12)
            yield header.address + start, header.address + start + size

    def offset(self, address):
        """In the file; None where no byte of it is mapped."""
        return next((address - start + at for start, at, size, _ in self.segments if start <= address < start + size), None)

    def address(self, offset):
        return next((offset - at + start for start, at, size, _ in self.segments if at <= offset < at + size), offset)

    def code(self, start, end):
        at = self.offset(start)
        return b"" if at is None else self.bytes[at:at + end - start]

    def function(self, address):
        """The one that this address is in; a stub of the linker is one of its own."""
        for stubs in self.stubs:
            if stubs.address <= address < stubs.address + stubs.size:
                size = stubs.entry_size if stubs.entry_size in (8, 16) else STUB_SIZE
                start = address - (address - stubs.address) % size
                return Function(start, start + size)
        at = bisect.bisect_right(self.starts, address) - 1
        start = self.starts[at] if at >= 0 else self.begin(address)
        return self.bounded(start, address, self.starts[at + 1] if at + 1 < len(self.starts) else self.end(address))

    def bounded(self, start, address, following):
        """A symbol inside an extent is another entry of the same function."""
        outer = start if start in self.extents else self.extent_before(start)
        if outer is not None and address < self.extents[outer]:
            return Function(outer, self.extents[outer])
        return Function(max(start, self.extents.get(start, start)), following)

    def extent_before(self, start):
        at = bisect.bisect_left(self.starts, start) - 1
        while at >= 0 and self.starts[at] not in self.extents:
            at -= 1
        return self.starts[at] if at >= 0 else None

    def begin(self, address):
        return next((start for start, _, size, _ in self.segments if start <= address < start + size), address)

    def end(self, address):
        return next((start + size for start, _, size, _ in self.segments if start <= address < start + size), address + 1)

    def is_code(self, address):
        return any(start <= address < start + size and x for start, _, size, x in self.segments)
