"""The unwind tables of real files, row for row beside what readelf reads in the same sections.

UNWIND_FILES names more of them.
"""

import bisect
import functools
import glob
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

DUMP = os.environ["DUMP_TABLE"]
ENTRY = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ (CIE|FDE) ?(.*)")
RANGE = re.compile(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)")
CIE_OF = re.compile(r"cie=([0-9a-f]+)")
FP_NAMES = ("rbp", "x29")
SP_NAMES = ("rsp", "sp")
# Data that looks like a call, and then like a jump into a function that has no rules.
MISLEADING = """
.section .rodata, "a"
.balign 4
    bl misled
misled:
    stp x29, x30, [sp, #-16]!
    b leaf + 4
.text
.type leaf, %function
leaf:
    nop
    nop
    ret
.size leaf, . - leaf
"""
# A program with a stub, so that sections call something code.
LINKED = """
.globl start
.type start, %function
start:
    bl leaf
    bl abort
.size start, . - start
"""


def candidates():
    patterns = ["/lib/*/libc.so.6", "/lib/*/libcrypto.so.3", "/lib*/ld-linux-*.so.*", "/bin/ls"]
    patterns += os.environ.get("UNWIND_FILES", "").split()
    found = {os.path.realpath(path) for pattern in patterns for path in glob.glob(pattern)}
    return sorted(path for path in found if os.path.isfile(path))


def readelf_rows(path):
    """Yields (start, end, is_signal, [(address, {column: text})]) for each FDE."""
    text = subprocess.run(
        ["readelf", "--wide", "--debug-dump=frames-interp", path],
        capture_output=True, text=True, errors="replace", check=False,
    ).stdout
    signals, entry, columns, rows = set(), None, [], []
    for line in text.splitlines():
        match = ENTRY.match(line)
        if match or not line.strip():
            if entry and rows:
                yield (*entry, rows)
            entry, columns, rows = None, [], []
            if match and match[1] == "CIE":
                if "S" in match[2].split('"')[1]:
                    signals.add(line.split()[0])
            elif match and RANGE.search(match[2]):
                start, end = (int(value, 16) for value in RANGE.search(match[2]).groups())
                entry = (start, end, CIE_OF.search(match[2])[1] in signals)
        elif line.split()[0] == "LOC":
            columns = line.split()[1:]
        elif entry and columns:
            words = re.sub(r" \(\w+\)", "", line).split()
            rows.append((int(words[0], 16), dict(zip(columns, words[1:]))))
    if entry and rows:
        yield (*entry, rows)


@functools.lru_cache(maxsize=None)
def entries_of(path):
    """Reading them takes longest."""
    return list(readelf_rows(path))


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def our_table(path):
    done = subprocess.run([DUMP, path], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return [int(row[0], 16) for row in rows], rows


# Flags of rows: ra is in its register, or ra lies where the row's fp says.
IN_REGISTER, ALONE = 0x80, 0x40
FLAGS = IN_REGISTER | ALONE


def cfa_words(text):
    """Words from the CFA; None where it is not saved there."""
    match = re.match(r"c([+-]\d+)$", text)
    return int(match[1]) // 8 if match else None


def return_address(ra, fp):
    """(fp, flags) of a row of aarch64, whose calls push nothing; None where it has no room for them.

    At a function's begin readelf shows "u": there is no rule, the address is in x30 still."""
    if ra == "u":
        return (-128 if fp is None else fp, IN_REGISTER)
    if cfa_words(ra) is None or (fp is not None and cfa_words(ra) != fp + 1):
        return None
    return (cfa_words(ra), ALONE) if fp is None else (fp, 0)


def expected(rules):
    """What a row must say: (kind, cfa, fp, flags), or None where only the kinds of odd rules are possible."""
    cfa, ra = rules["CFA"], rules.get("ra", "u")
    fp = next((rules[name] for name in FP_NAMES if name in rules), "u")
    base = re.match(r"([a-z0-9]+)([+-]\d+)$", cfa)
    if not base or base[1] not in FP_NAMES + SP_NAMES:
        return None
    if fp not in ("u", "s") and cfa_words(fp) is None:
        return None
    offset, is_pushed = int(base[2]), base[1] in ("rsp", "rbp")
    if is_pushed and ra != "c-8":
        return None
    if offset % 8 or not 0 <= offset // 8 < 65536:
        return None
    fp = cfa_words(fp)
    if fp is not None and base[1] in SP_NAMES and offset + fp * 8 < 0:
        fp = None  # popped already: the register has it again
    found = (-128 if fp is None else fp, 0) if is_pushed else return_address(ra, fp)
    if not found or not -128 <= found[0] < 128:
        return None
    return ("sp" if base[1] in SP_NAMES else "fp", offset, *found)


def without_rules(path, copy):
    """A copy of an ELF file in which the sections of rules are not found."""
    data = bytearray(read_bytes(path))
    (program, sections), (program_size, program_count, size, count, names) = \
        struct.unpack_from("<QQ", data, 0x20), struct.unpack_from("<HHHHH", data, 0x36)
    for at in range(program, program + program_count * program_size, program_size):
        if struct.unpack_from("<I", data, at)[0] == 0x6474E550:  # PT_GNU_EH_FRAME
            struct.pack_into("<I", data, at, 0)
    text = struct.unpack_from("<Q", data, sections + names * size + 0x18)[0]
    for at in range(sections, sections + count * size, size):
        name = text + struct.unpack_from("<I", data, at)[0]
        if data[name:data.index(0, name)] in (b".eh_frame", b".debug_frame"):
            data[name + 1] = ord("x")
    with open(copy, "wb") as file:
        file.write(data)


def is_return(data, segments, address):
    """At a return the frame is gone, whatever the rules say."""
    is_x86_64 = struct.unpack_from("<H", data, 18)[0] == 62
    for offset, start, size in segments:
        if start <= address < start + size:
            code = data[offset + address - start:][:4]
            if is_x86_64:
                return code[:1] in (b"\xc3", b"\xc2") or code[:2] == b"\xf3\xc3"
            return code in (b"\xc0\x03\x5f\xd6", b"\xff\x0b\x5f\xd6", b"\xff\x0f\x5f\xd6")
    return False


def segments_of(data):
    at, (size, count) = struct.unpack_from("<Q", data, 0x20)[0], struct.unpack_from("<HH", data, 0x36)
    for address in range(at, at + count * size, size):
        kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", data, address)
        if kind == 1:
            yield offset, start, length


class Truth(unittest.TestCase):
    def compare(self, path):
        addresses, rows = our_table(path)
        data = read_bytes(path)
        segments, at_return = list(segments_of(data)), "8" if os.uname().machine == "x86_64" else "0"
        checked = odd = 0
        entries = entries_of(path)
        for start, end, is_signal, rules in entries:
            if is_signal:  # in its system call the pc stands behind the last byte
                self.assertEqual(rows[bisect.bisect_right(addresses, end) - 1][1], "signal", f"{path} {end:x}")
            for address, rule in rules:
                if not start <= address < end:
                    continue
                row = rows[bisect.bisect_right(addresses, address) - 1]
                want = None if is_signal else expected(rule)
                checked += 1
                if row[1:3] == ["sp", at_return] and is_return(data, segments, address):
                    continue
                if want and not self.is_outermost(row, rule):
                    self.assertEqual((row[1], int(row[2]), int(row[3]), int(row[4], 16) & FLAGS), want,
                                     f"{path} {address:x} {rule}")
                else:
                    odd += 1
                    self.assertIn(row[1], self.odd_kinds(rule, is_signal),
                                  f"{path} {address:x} {rule}")
        self.assertGreater(checked, 0, path)
        bad = sum(row[1] == "bad" for row in rows)
        self.assertLess(bad, 10 + len(rows) / 1000, path)
        self.assertLess(sum(row[1] == "end" for row in rows), 10, path)
        print(f"{path}: {len(entries)} entries, {checked} rows, {odd} odd", file=sys.stderr)

    @staticmethod
    def is_outermost(row, rule):
        """readelf shows an undefined return address as it shows one that is in x30 still."""
        return row[1] == "end" and rule["ra"] == "u" and "rsp" not in rule["CFA"]

    @staticmethod
    def odd_kinds(rule, is_signal):
        if is_signal:
            return ("signal",)
        if rule.get("ra") == "u":
            return ("end",)
        return ("plt", "special", "bad") if rule["CFA"] == "exp" else ("special", "bad")

    def test_every_row_is_what_readelf_says(self):
        if not shutil.which("readelf"):
            self.skipTest("no readelf")
        files = candidates()
        self.assertTrue(files)
        for path in files:
            with self.subTest(path):
                self.compare(path)

    def compare_instructions(self, path, copy):
        """Returns how many bytes of code have the same rule, and how many have none."""
        addresses, rows = our_table(copy)
        data = read_bytes(path)
        segments = list(segments_of(data))
        same = unknown = 0
        for start, end, is_signal, rules in entries_of(path):
            rules = [] if is_signal else [rule for rule in rules if start <= rule[0] < end]
            for (address, rule), stop in zip(rules, [rule[0] for rule in rules[1:]] + [end]):
                want = expected(rule)
                first = bisect.bisect_right(addresses, address) - 1
                for index in range(first, bisect.bisect_left(addresses, stop)):
                    row, begin = rows[index], max(addresses[index], address)
                    size = min(*addresses[index + 1:index + 2], stop, stop) - begin
                    unknown += size if row[1] == "none" else 0
                    if not want or row[1] != want[0]:
                        continue  # nothing, or the same said by another register
                    got = (row[1], int(row[2]), int(row[3]), 0)
                    if got[1] != 8 or not is_return(data, segments, begin):
                        self.assertEqual(got, want, f"{path} {begin:x} {rule}")
                    same += size
        return same, unknown

    @unittest.skipUnless(os.uname().machine == "x86_64", "files of x86-64 are read")
    def test_instructions_say_what_the_rules_did(self):
        """Of code whose rules are hidden little may be left unsaid, and nothing said wrongly."""
        if not shutil.which("readelf"):
            self.skipTest("no readelf")
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy")
            for path in candidates():
                if "libcrypto" in path:
                    continue  # it takes longer than all others
                without_rules(path, copy)
                with self.subTest(path):
                    same, unknown = self.compare_instructions(path, copy)
                    print(f"{path}: {same} bytes the same, {unknown} unknown", file=sys.stderr)
                    self.assertGreater(same, unknown / 2, path)

    @unittest.skipUnless(os.uname().machine == "aarch64" and shutil.which("gcc"), "code of aarch64 is made")
    def test_data_beside_the_code_is_not_read_as_code(self):
        """Linkers for aarch64 lay both into one segment."""
        with tempfile.TemporaryDirectory() as folder:
            source, made = os.path.join(folder, "leaf.s"), os.path.join(folder, "leaf.so")
            pathlib.Path(source).write_text(MISLEADING, encoding="ascii")
            subprocess.run(["gcc", "-shared", "-nostdlib", "-Wl,-z,noseparate-code", "-o", made, source], check=True)
            names = subprocess.run(["nm", made], capture_output=True, text=True, check=True).stdout
            leaf = int(re.search(r"([0-9a-f]+) t leaf", names)[1], 16)
            addresses, rows = our_table(made)
        for address in (leaf, leaf + 4, leaf + 8):
            row = rows[bisect.bisect_right(addresses, address) - 1]
            self.assertEqual(row[1:3], ["sp", "0"], f"at {address - leaf}: {row}")

    @unittest.skipUnless(os.uname().machine == "aarch64" and shutil.which("gcc"), "code of aarch64 is made")
    def test_sections_that_hide_the_code_are_not_believed(self):
        """A program of which nothing but the stubs is called code."""
        with tempfile.TemporaryDirectory() as folder:
            source, made, lying = (os.path.join(folder, name) for name in ("leaf.s", "leaf", "lying"))
            pathlib.Path(source).write_text(MISLEADING + LINKED, encoding="ascii")
            subprocess.run(["gcc", "-nostartfiles", "-Wl,-e,start", "-o", made, source], check=True)
            subprocess.run(["objcopy", "--set-section-flags", ".text=alloc,readonly,data,contents", made, lying], check=True)
            names = subprocess.run(["nm", made], capture_output=True, text=True, check=True).stdout
            leaf = int(re.search(r"([0-9a-f]+) t leaf", names)[1], 16)
            addresses, rows = our_table(lying)
        self.assertEqual(rows[bisect.bisect_right(addresses, leaf + 4) - 1][1:3], ["sp", "0"])

    def test_none_between_functions(self):
        addresses, rows = our_table(candidates()[0])
        self.assertIn("none", [row[1] for row in rows[:-1]])
        self.assertEqual(rows[-1][1], "none")
        self.assertEqual(addresses, sorted(set(addresses)))


if __name__ == "__main__":
    unittest.main()
