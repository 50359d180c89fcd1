#!/usr/bin/env python3
"""
Names of code in ELF files: whole, stripped, with debug information beside it or packed inside it.
What nm, addr2line and objdump say of the whole file is the truth.

Environment: PROGRAMS is the folder with name_of, named and sparse.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
from needs import needs  # noqa: E402

PROGRAMS = os.path.abspath(os.environ.get("PROGRAMS", "."))


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True,
                          timeout=60).stdout


@needs("nm", "objdump", "addr2line", "objcopy", "strip")
class Names(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="names-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.whole = os.path.join(PROGRAMS, "named")
        self.symbols = {}
        for line in output("nm", "-S", self.whole).splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "tT":
                self.symbols[words[3]] = (int(words[0], 16), int(words[1], 16))

    def file(self, name):
        return os.path.join(self.folder, name)

    def name(self, path, *addresses):
        """For each address a list of (function, file:line), the innermost first."""
        lines = output(os.path.join(PROGRAMS, "name_of"), path, *[f"{a:x}" for a in addresses]).splitlines()
        self.assertEqual(len(lines), len(addresses))
        answer = []
        for line in lines:
            words = line.split("\t")
            answer.append(list(zip(words[::2], words[1::2])))
        return answer

    def functions(self, path, *addresses):
        return [names[-1][0] for names in self.name(path, *addresses)]

    def middle(self, name):
        address, size = self.symbols[name]
        return address + size // 2

    def test_a_whole_file_has_all_names(self):
        wanted = ["main", "loud", "quiet"]
        first = [self.symbols[name][0] for name in wanted]
        last = [self.symbols[name][0] + self.symbols[name][1] - 1 for name in wanted]
        self.assertEqual(self.functions(self.whole, *first), wanted)
        self.assertEqual(self.functions(self.whole, *last), wanted)

    def test_inlined_functions_with_lines_as_addr2line_has_them(self):
        begin, size = self.symbols["quiet"]
        told = False
        for address in range(begin, begin + size):
            lines = output("addr2line", "-f", "-i", "-e", self.whole, hex(address)).splitlines()
            truth = [(lines[i], re.sub(r" \(discriminator.*", "", lines[i + 1])) for i in range(0, len(lines), 2)]
            mine = self.name(self.whole, address)[0]
            self.assertEqual([name for name, _ in mine], [name for name, _ in truth], hex(address))
            self.assertEqual([line.rsplit("/", 1)[-1] for _, line in mine],
                             [line.rsplit("/", 1)[-1] for _, line in truth], hex(address))
            told |= [name for name, _ in mine] == ["inlined_twice", "inlined_once", "quiet"]
        self.assertTrue(told)

    def test_entries_of_the_plt(self):
        found = {}
        for line in output("objdump", "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got",
                           self.whole).splitlines():
            match = re.match(r"([0-9a-f]+) <(\w+)@plt>:", line)
            if match:
                found[match.group(2)] = int(match.group(1), 16)
        self.assertIn("puts", found)
        for name, address in found.items():
            self.assertEqual(self.functions(self.whole, address + 3), [name])

    def test_a_stripped_file_tells_where_functions_begin(self):
        stripped = self.file("bare")
        output("strip", "-s", "-o", stripped, self.whole)
        begin = self.symbols["quiet"][0]
        self.assertEqual(self.functions(stripped, begin, self.middle("quiet")), [f"bare+{begin:#x}"] * 2)

    def test_data_is_no_part_of_the_last_function(self):
        """Linkers for aarch64 put both into one segment."""
        stripped = self.file("bare")
        output("strip", "-s", "-o", stripped, self.whole)
        address = next(int(line.split()[3], 16) for line in output("objdump", "-hw", stripped).splitlines()
                       if line.split()[1:2] == [".eh_frame"])
        self.assertEqual(self.functions(stripped, address), [f"bare+{address:#x}"])

    def test_an_address_of_no_function(self):
        self.assertEqual(self.functions(self.whole, 0x7fffffff), ["named+0x7fffffff"])

    def test_no_such_file(self):
        self.assertEqual(self.functions("/does/not/exist", 0x10), ["exist+0x10"])

    def separate(self, stripped, debug):
        output("objcopy", "--only-keep-debug", self.whole, debug)
        output("objcopy", "--strip-all", self.whole, stripped)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", stripped], check=True, timeout=60)

    def test_debug_information_beside_it_by_its_link(self):
        os.mkdir(self.file(".debug"))
        self.separate(self.file("linked"), self.file(".debug/linked.debug"))
        names = self.name(self.file("linked"), self.middle("quiet"))[0]
        self.assertEqual(names[-1][0], "quiet")
        self.assertRegex(names[-1][1], r"named\.c:\d+$")

    def test_debug_information_of_another_build_is_not_believed(self):
        self.separate(self.file("linked"), self.file("linked.debug"))
        shutil.copy(os.path.join(PROGRAMS, "plain"), self.file("linked.debug"))
        begin = self.symbols["quiet"][0]
        self.assertEqual(self.functions(self.file("linked"), begin), [f"linked+{begin:#x}"])

    @unittest.skipUnless(shutil.which("xz"), "no xz here")
    def test_names_packed_inside(self):
        output("objcopy", "--only-keep-debug", "--strip-debug", self.whole, self.file("mini"))
        output("xz", "-f", self.file("mini"))
        output("objcopy", "--strip-all", f"--add-section=.gnu_debugdata={self.file('mini.xz')}", self.whole,
               self.file("packed"))
        self.assertEqual(self.functions(self.file("packed"), self.middle("quiet")), ["quiet"])


@needs("nm", "strip")
class Sparse(unittest.TestCase):
    """Code with and without sizes, entries of .eh_frame and types."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="names-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.whole = os.path.join(PROGRAMS, "sparse")
        self.bare = os.path.join(self.folder, "bare")
        output("strip", "-s", "-o", self.bare, self.whole)
        self.at = {}
        for line in output("nm", self.whole).splitlines():
            self.at[line.split()[-1]] = int(line.split()[0], 16)

    def function(self, path, address):
        return output(os.path.join(PROGRAMS, "name_of"), path, f"{address:x}").split("\t")[0]

    def test_objects_and_labels_in_code_are_functions(self):
        for name in "Main_main_info", "base_label":
            for address in self.at[name], self.at[name] + 8:
                self.assertEqual(self.function(self.whole, address), name)

    def test_a_name_without_a_size_ends_with_its_entry(self):
        self.assertEqual(self.function(self.whole, self.at["loose"] + 1), "loose")
        self.assertNotEqual(self.function(self.whole, self.at["loose"] + 60), "loose")

    def test_the_start_code_ends(self):
        self.assertEqual(self.function(self.whole, self.at["frame_dummy"]), "frame_dummy")
        behind = self.at["frame_dummy"] + 68
        self.assertEqual(self.function(self.whole, behind), f"sparse+{behind:#x}")

    def test_a_function_of_a_stripped_file_ends_with_its_entry(self):
        for name in "whole", "loose":
            begin = f"bare+{self.at[name]:#x}"
            self.assertEqual(self.function(self.bare, self.at[name]), begin)
            self.assertEqual(self.function(self.bare, self.at[name] + 1), begin)
            self.assertNotEqual(self.function(self.bare, self.at[name] + 60), begin)

    def test_a_function_without_an_entry_begins_where_a_call_leads(self):
        for name in "called_first", "called_second":
            for address in self.at[name], self.at[name] + 4, self.at[name] + 24:
                self.assertEqual(self.function(self.bare, address), f"bare+{self.at[name]:#x}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
