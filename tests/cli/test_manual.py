#!/usr/bin/env python3
"""
Every verb and every option of the tables is in the manual and in the completions of each shell, and the manual
names no option that is not there.

Environment: LIMPET is the executable under test, MANUAL the folder of the pages that the build makes.
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, limpet  # noqa: E402

PAGES = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/man"
MADE = pathlib.Path(os.environ["MANUAL"])
SHELLS = ("bash", "zsh", "fish")


def listed(title, *words):
    """The verbs that a help text lists."""
    part = limpet(*words).out.split(f"{title}:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in part.splitlines()]


@functools.cache
def verbs():
    """Each that can be run, those below others too: "fleet dump"."""
    def with_those_below(verb):
        has_own = "\nverbs:\n" in limpet(verb, "--help").out
        return [f"{verb} {word}" for word in listed("verbs", verb, "--help")] if has_own else [verb]
    return [name for verb in listed("commands", "help") for name in with_those_below(verb)]


@functools.cache
def options(verb):
    """(short or None, long) of each, as --help tells them: they are printed from the table."""
    text = limpet(*verb.split(), "--help").out
    if "\noptions:\n" not in text:
        return []
    part = text.split("\noptions:\n", 1)[1].split("\n\n", 1)[0]
    found = [re.match(r"\s+(?:-(\w), )?\s*--([\w-]+)", line) for line in part.splitlines()]
    return [match.groups() for match in found if match]


def find_page(verb):
    """The path of its page, None: it has none. Verbs below another one share that one's."""
    name = f"limpet-{verb.split()[0]}.1" if verb else "limpet-.1"
    return next((path for folder in (PAGES, MADE) if (path := folder / name).exists()), None)


def page(verb):
    return (find_page(verb) or PAGES / "limpet.1").read_text().replace("\\-", "-")


def mentions(text, option):
    return re.search(r"(?<![\w-])--%s(?![\w-])" % re.escape(option), text)


class Manual(unittest.TestCase):
    def test_each_verb_is_described(self):
        first = page("")
        for verb in verbs():
            self.assertRegex(first, r"\b%s\b" % verb.split()[0])
            self.assertRegex(page(verb), r"\b%s\b" % verb.split()[-1])
            self.assertTrue(find_page(verb) or verb == "completions", verb)

    def test_each_option_is_described(self):
        for verb in verbs():
            text = page(verb)
            for short, name in options(verb):
                with self.subTest(verb=verb, option=name):
                    self.assertTrue(mentions(text, name), f"--{name} is not in the page of {verb}")
                    if short:
                        self.assertRegex(text, r"(?<![\w-])-%s(?![\w-])" % short)

    def test_no_option_is_made_up(self):
        for verb in verbs():
            if not find_page(verb):
                continue
            known = {name for other in verbs() if find_page(other) == find_page(verb)
                     for _, name in options(other)} | {"help"}
            part = page(verb).split(".SH OPTIONS", 1)[-1].split("\n.SH ", 1)[0]
            told = {name for line in part.splitlines() if line.startswith((".BR -", ".B -"))
                    for name in re.findall(r"(?<![\w-])--([\w-]+)", line)}
            self.assertEqual(told - known, set(), verb)


def formats():
    """{name: extensions} of limpet export, as --help tells them: they are printed from the table."""
    text = limpet("export", "--help").out.split("\nformats of samples:\n", 1)[1].split("\n\n", 1)[0]
    lines = re.findall(r"(?m)^  (\S+) +.*?(?:\(((?:[._][\w.-]+(?:, )?)+)\))?$", text)
    return {name: extensions.split(", ") if extensions else [] for name, extensions in lines}


class Formats(unittest.TestCase):
    def test_the_manual_and_the_completions_have_each(self):
        manual = page("export")
        scripts = [limpet("completions", shell).out for shell in SHELLS]
        self.assertGreaterEqual(len(formats()), 14)
        for name, extensions in formats().items():
            with self.subTest(name):
                self.assertRegex(manual, rf"(?m)^\.B {re.escape(name)}$")
                for extension in extensions:
                    self.assertIn(f" {extension} ", manual)
                for script in scripts:
                    self.assertRegex(script, rf"['( ]{re.escape(name)}[') ]")

    def test_the_error_offers_each(self):
        told = limpet("export", "none.limpet", "-o", "a.b").err
        for name in formats():
            self.assertIn(name, told)


class Completions(unittest.TestCase):
    def test_each_verb_and_option_is_completed(self):
        for shell in SHELLS:
            script = limpet("completions", shell)
            self.assertEqual(script.code, 0, str(script))
            for verb in verbs():
                lines = self.lines_of(shell, script.out, verb)
                for short, name in options(verb):
                    with self.subTest(shell=shell, verb=verb, option=name):
                        self.assertTrue(self.has(shell, lines, short, name), lines)

    @staticmethod
    def lines_of(shell, script, verb):
        """What the script has for one verb."""
        if shell == "fish":
            above, word = verb.split() if " " in verb else ("", verb)
            return "\n".join(line for line in script.splitlines() if f"seen_subcommand_from {word}'" in line
                             and (f"'__fish_seen_subcommand_from {above};" in line) == bool(above))
        name = verb.replace(" ", "\\ ")
        start = {"bash": f"\t*:{name})", "zsh": f"\t{name}) "}[shell]
        return script.split(start, 1)[1].split(";;", 1)[0]

    @staticmethod
    def has(shell, text, short, name):
        if shell == "fish":
            return re.search(r" -l %s( |$)" % re.escape(name), text) and (
                not short or re.search(r" -l %s( -r)? -s %s " % (re.escape(name), short), text))
        return mentions(text, name) and (not short or re.search(r"(?<![\w-])-%s(?![\w-])" % short, text))

    def test_verbs_are_completed(self):
        for shell in SHELLS:
            script = limpet("completions", shell).out
            for verb in verbs():
                self.assertRegex(script, r"(?m)^.*\b%s\b" % verb.split()[-1])

    def test_the_shells_can_read_them(self):
        for shell in SHELLS:
            if not shutil.which(shell):
                continue
            script = limpet("completions", shell).out
            result = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""), shell)

    def test_bash_completes(self):
        script = limpet("completions", "bash").out
        ask = "\nCOMP_WORDS=(limpet record --chi); COMP_CWORD=2; _limpet; echo ${COMPREPLY[@]}" \
              f"\nCOMP_WORDS=({LIMPET} record -p ''); COMP_CWORD=3; _limpet; echo ${{COMPREPLY[@]}}\n"
        result = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "--children", result.stderr)
        self.assertIn(str(os.getpid()), lines[1].split())


if __name__ == "__main__":
    unittest.main()
