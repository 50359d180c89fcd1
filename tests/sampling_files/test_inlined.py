#!/usr/bin/env python3
"""
Inlined functions in debug information of several compilers, forms and versions: each address of a
small program must have the functions, files and lines that addr2line finds.

addr2line 2.40 does not find all that clang writes as DWARF 5, and reads no split information.  The
code is the same in all forms, so the answer for DWARF 4 in one file holds for all of them.

Environment: PROGRAMS is the folder with name_of.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "common"))
from needs import needs  # noqa: E402

PROGRAMS = os.path.abspath(os.environ.get("PROGRAMS", "."))
SOURCES = os.path.join(HERE, "..", "programs")
FLAGS = {
    # addr2line gives the name of a clone, which only the table of symbols has, to the innermost function.
    "g++": ["-O2", "-fno-ipa-sra", "-fno-ipa-cp"],
    "clang++": ["-O2"],
}
# gcc writes no linked name of a local class: addr2line has the last part only.
LOCAL = "in_a_function(int)::local::"


def output(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True,
                          timeout=120, **more).stdout


def asked(addresses):
    return "".join(f"{address:x}\n" for address in addresses)


def mine(path, addresses):
    """For each address a list of (function, file:line), the innermost first."""
    lines = output(os.path.join(PROGRAMS, "name_of"), path, input=asked(addresses))
    words = [line.split("\t") for line in lines.replace(LOCAL + "work(int)", "work").splitlines()]
    return [list(zip(line[::2], map(os.path.basename, line[1::2]))) for line in words]


def truth(path, addresses):
    answers = []
    lines = output("addr2line", "-a", "-f", "-i", "-C", "-e", path, input=asked(addresses))
    lines = iter(lines.replace(LOCAL + "work(int)", "work").splitlines())
    for line in lines:
        if line.startswith("0x"):
            answers.append([])
        else:
            location = re.sub(r" \(discriminator.*", "", next(lines)).replace(":?", ":0")
            answers[-1].append((line, os.path.basename(location)))
    return answers


def code(path, wanted):
    """All addresses of functions whose names hold the text."""
    found = []
    for line in output("nm", "-S", path).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW" and wanted in words[3]:
            begin = int(words[0], 16)
            found += range(begin, begin + int(words[1], 16))
    return found


@needs("addr2line", "nm")
class Inlined(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="inlined-")
        self.addCleanup(shutil.rmtree, self.folder)

    def build(self, compiler, name, *options):
        """In two steps: then clang's .dwo has the name of the object."""
        path = os.path.join(self.folder, name)
        output(compiler, *FLAGS[compiler], *options, "-c", os.path.join(SOURCES, "scoped.cpp"), "-o", path + ".o",
               cwd=self.folder)
        output(compiler, path + ".o", "-o", path)
        return path

    def check(self, compiler):
        whole = self.build(compiler, "whole4", "-gdwarf-4")
        addresses = code(whole, "outer") + code(whole, "both") + code(whole, "in_a_function")
        wanted = truth(whole, addresses)
        self.assertGreater(len([chain for chain in wanted if len(chain) > 2]), 20)
        self.assertEqual(mine(whole, addresses), wanted)
        for name, options in (("whole5", ["-gdwarf-5"]), ("split4", ["-gdwarf-4", "-gsplit-dwarf"]),
                              ("split5", ["-gdwarf-5", "-gsplit-dwarf"])):
            with self.subTest(name):
                path = self.build(compiler, name, *options)
                self.assertEqual(code(path, "outer"), code(whole, "outer"))
                self.assertEqual(mine(path, addresses), wanted)

    @needs("g++")
    def test_of_gcc(self):
        self.check("g++")

    @needs("clang++")
    def test_of_clang(self):
        self.check("clang++")

    @needs("rustc")
    def test_of_rust(self):
        for level in "1", "2":
            with self.subTest(level):
                path = os.path.join(self.folder, "rust" + level)
                output("rustc", "-O", "-C", f"debuginfo={level}", os.path.join(SOURCES, "scoped.rs"), "-o", path,
                       cwd=self.folder)
                addresses = code(path, "outer") + code(path, "4main")
                wanted = truth(path, addresses)
                self.assertGreater(len([chain for chain in wanted if len(chain) > 2]), 5)
                self.assertEqual(mine(path, addresses), wanted)


if __name__ == "__main__":
    unittest.main(verbosity=2)
