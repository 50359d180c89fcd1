#!/usr/bin/env python3
"""Tests the checkers themselves: a wrong tree must be refused, with words that name the place."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
LAYERS = """shared/base:
injector: shared/base
target/agent: shared/base
host/core: shared/base
host/cli: shared host/core
compat/front: host/core
include:
"""


def check(tool, **files):
    """Runs a checker on a tree of {path with __ for /: content}."""
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        for name, content in files.items():
            path = root / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        done = subprocess.run(
            [sys.executable, TOOLS / tool, root], capture_output=True, text=True
        )
        return done.returncode, done.stdout


def check_layers(**files):
    return check("check-layers.py", **{"tools__layers.txt": LAYERS}, **files)


class Layers(unittest.TestCase):
    base = {"src__shared__base__a.h": "", "src__host__core__err.h": '#include "shared/base/a.h"\n'}

    def test_accepts_a_lower_folder(self):
        self.assertEqual(check_layers(**self.base), (0, ""))

    def test_refuses_a_higher_folder(self):
        status, text = check_layers(**self.base, **{
            "src__shared__base__c.c": '#include "host/core/err.h"\n'})
        self.assertEqual(status, 1)
        self.assertIn("shared/base may not include host/core", text)

    def test_refuses_what_is_not_listed(self):
        status, text = check_layers(**self.base, **{
            "src__host__cli__a.h": "", "compat__front__a.c": '#include "host/cli/a.h"\n'})
        self.assertEqual(status, 1)
        self.assertIn("compat/front may not include host/cli", text)

    def test_looks_into_tables(self):
        status, text = check_layers(**self.base, **{"src__shared__base__t.def": '#include "host/core/err.h"\n'})
        self.assertEqual(status, 1)
        self.assertIn("shared/base/t.def: ", text)

    def test_refuses_a_circle(self):
        status, text = check("check-layers.py", **{"tools__layers.txt": "host/a: host/b\nhost/b: host/c\nhost/c: host/a\n"})
        self.assertEqual(status, 1)
        self.assertIn("a circle: host/a -> host/b -> host/c -> host/a", text)

    def test_refuses_the_other_process(self):
        for folder in ("target__agent", "injector"):
            status, text = check_layers(**self.base, **{
                f"src__{folder}__x.h": "", "src__host__core__c.c": f'#include "{folder.replace("__", "/")}/x.h"\n'})
            self.assertEqual(status, 1)
            self.assertIn(f"host includes {folder.split('__')[0]}", text)

    def test_refuses_an_unlisted_folder(self):
        status, text = check_layers(**{"src__host__new__x.c": ""})
        self.assertEqual(status, 1)
        self.assertIn("not in tools/layers.txt", text)

    def test_refuses_a_private_header_in_public(self):
        status, text = check_layers(**self.base, **{
            "include__limpet__limpet.h": '#include "host/core/err.h"\n'})
        self.assertEqual(status, 1)
        self.assertIn("public, but includes", text)


class Calls(unittest.TestCase):
    """The order of files, on objects that the compiler has made."""

    def check(self, order):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            folder = root / "src/host/some"
            folder.mkdir(parents=True)
            (folder / "calls.txt").write_text(order)
            commands = []
            for name, text in (("low", "int low(void) { return 1; }"), ("high", "int low(void);int high(void) { return low(); }")):
                (folder / f"{name}.c").write_text(text + "\n")
                subprocess.run(["cc", "-c", folder / f"{name}.c", "-o", root / f"{name}.o"], check=True)
                commands.append({"file": f"src/host/some/{name}.c", "output": f"{name}.o"})
            (root / "compile_commands.json").write_text(json.dumps(commands))
            done = subprocess.run([sys.executable, TOOLS / "check-calls.py", root, root], capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_accepts_calls_upwards_in_the_list(self):
        self.assertEqual(self.check("low.c\nhigh.c\n"), (0, ""))

    def test_refuses_the_other_direction(self):
        status, text = self.check("high.c\nlow.c\n")
        self.assertEqual(status, 1)
        self.assertIn("some/high.c: uses low of low.c", text)

    def test_refuses_a_file_that_is_not_listed(self):
        self.assertEqual(self.check("low.c\n"), (1, "src/host/some/high.c: is not in calls.txt\n"))


class Uses(unittest.TestCase):
    """What objects use of folders that their own may not include."""

    def check(self, layers):
        sources = {"core/low.c": "int low(void) { return 1; }", "cli/high.c": "int low(void);int high(void) { return low(); }"}
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "tools").mkdir()
            (root / "tools/layers.txt").write_text(layers)
            (root / "src/host/libhost.a.p").mkdir(parents=True)
            for name, text in sources.items():
                path = root / "src/host" / name
                path.parent.mkdir()
                path.write_text(text + "\n")
                target = root / "src/host/libhost.a.p" / (name.replace("/", "_") + ".o")
                subprocess.run(["cc", "-c", path, "-o", target], check=True)
            done = subprocess.run([sys.executable, TOOLS / "check-uses.py", root, root], capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_accepts_what_may_be_included(self):
        self.assertEqual(self.check("host/core:\nhost/cli: host/core\n"), (0, ""))

    def test_refuses_what_a_header_brought_along(self):
        expected = "host/cli/high.c: host/cli may not use low of host/core/low.c\n"
        self.assertEqual(self.check("host/core:\nhost/cli:\n"), (1, expected))


class Needs(unittest.TestCase):
    needs = {"src__shared__wire__needs.c": "{ SYS_mmap }, { SYS_futex },\n"}

    def test_accepts_what_is_asked(self):
        self.assertEqual(check("check-needs.py", **self.needs, **{
            "src__target__agent__a.c": "raw3(SYS_futex, 0, 0, 0);\n"}), (0, ""))

    def test_refuses_what_nobody_asked(self):
        status, text = check("check-needs.py", **self.needs, **{
            "src__target__agent__a.c": "raw3(SYS_mmap, 0, 0, 0);\nraw0(SYS_sched_yield);\n"})
        self.assertEqual(status, 1)
        self.assertEqual(text, "SYS_sched_yield: made in src/target, not named in src/shared/wire/needs.c\n")


class Forks(unittest.TestCase):
    def test_accepts_the_one_place_and_names_of_the_programs(self):
        self.assertEqual(check("check-forks.py", **{
            "src__target__runtime__libc_calls.c": "((open_function *)functions.dlopen)(path, flags);\n",
            "src__target__tool__notices.c": '{ "dlopen", NULL, DOMAIN_FUNCTION },\n',
            "src__target__sdk__a.c": "/* dlsym(x) */ libc_symbol(NULL, name); my_dlsym(x);\n"}), (0, ""))

    def test_refuses_calls_fields_and_lookups_elsewhere(self):
        for line in ("dlsym(x, y);", "((f *)libc->dlsym)(x);", "libc.unsetenv;", 'find("dladdr");',
                     'libc_symbol(RTLD_DEFAULT, "dl_iterate_phdr");'):
            status, text = check("check-forks.py", **{"src__target__sdk__a.c": line + "\n"})
            self.assertEqual(status, 1, line)
            self.assertTrue(text.startswith("src/target/sdk/a.c: "), text)


class Visits(unittest.TestCase):
    def test_accepts_scripts_that_reach_the_check(self):
        self.assertEqual(check("check-visits.py", **{
            "tests__attach__harness.py": "import progress\nLIMPET = 1\n", "tests__a__ground.py": "from harness import LIMPET\n",
            "tests__a__test_a.py": "import ground\nground.LIMPET\n", "tests__a__plain.py": "import os\n"}), (0, ""))

    def test_refuses_one_without_and_calls_that_are_not_seen(self):
        for line, word in (("LIMPET = 1", "runs limpet and does not import"), ("import os; os.posix_spawn(1)", "os.posix_spawn(: ")):
            status, text = check("check-visits.py", **{"tests__a__test_a.py": line + "\n"})
            self.assertEqual(status, 1)
            self.assertTrue(text.startswith(f"tests/a/test_a.py: {word}"), text)


class Loader(unittest.TestCase):
    walk = "void scan(void)\n{\n\tlibc_iterate(visit, NULL);\n}\n"

    def check(self, visit, **files):
        return check("check-loader.py", **{"src__target__hooks__a.c": f"{visit}\n{self.walk}"}, **files)

    def test_accepts_a_walk_that_asks_nothing(self):
        self.assertEqual(self.check("static int visit(void)\n{\n\treturn libc_iterate(visit, 0);\n}\n"
                                    "static void *other(void)\n{\n\treturn libc_symbol(0, name);\n}\n"), (0, ""))

    def test_refuses_a_question_wherever_it_is(self):
        ask = "void ask(void)\n{\n\tlibc_find_symbol(x);\n}\n"
        for visit, files in (
                ("static int visit(void)\n{\n\treturn libc_symbol(0, name);\n}\n", {}),
                ("static int visit(void)\n{\n\treturn ask();\n}\n", {"src__target__hooks__b.c": ask}),
                ("static int visit(void)\n{\n\thook->prepare(hook);\n}\n",
                 {"src__target__hooks__b.c": ask.replace("void ask", "static void prepare_it")}),
                ("static int visit(void)\n{\n\treturn got_functions()->symbol(0, name);\n}\n", {})):
            status, text = self.check(visit, **files)
            self.assertEqual(status, 1, visit)
            self.assertTrue(text.startswith("src/target/hooks/a.c: visit "), text)


class Outputs(unittest.TestCase):
    def test_accepts_reading_and_the_one_place(self):
        self.assertEqual(check("check-outputs.py", **{
            "src__host__core__output__output_location.c": "openat(a, b, O_WRONLY | O_CREAT, 0600);\n",
            "src__host__cli__a.c": '/* O_TRUNC */ fopen("O_CREAT", "re"); open(path, O_RDONLY);\n'}), (0, ""))

    def test_refuses_all_else(self):
        for text in ("open(path, O_RDWR);", 'fopen(path, "w");', "fopen(path, mode);", "mkstemp(path);",
                     "rename(a, b);", "x = O_CREAT;", 'getenv("HOME");'):
            status, words = check("check-outputs.py", **{"src__host__cli__a.c": f"int a;\n{text}\n"})
            self.assertEqual(status, 1, text)
            self.assertIn("src/host/cli/a.c:2: ", words)


class Opens(unittest.TestCase):
    known = {"src__host__process__foreign_file.c": "syscall(SYS_openat2, root);\n"}

    def test_accepts_the_known_places(self):
        self.assertEqual(check("check-opens.py", **self.known, **{
            "src__host__symbols__a.c": "/* open(path) */ reader->open(elf); foreign_file_open(0, path);\n"}), (0, ""))

    def test_refuses_any_other(self):
        for call in ("open(path, O_RDONLY)", "openat(folder, path, 0)", 'fopen(path, "re")', "syscall(SYS_openat2, 0)"):
            status, text = check("check-opens.py", **self.known, **{"src__host__symbols__a.c": f"fd = {call};\n"})
            self.assertEqual(status, 1, call)
            self.assertIn("src/host/symbols/a.c: opens a file", text)


class Words(unittest.TestCase):
    def test_accepts_literals_numbers_and_the_layer(self):
        self.assertEqual(check("check-words.py", **{
            "src__host__core__text__print.c": "fwrite(text, 1, size, out);\n",
            "src__host__cli__a.c": """/* printf("%s", x) */ print(out, "%s", name); fprintf(out, "%5.2f %" PRIu64 "\\n", a, b);
                puts("printf(%s)"); fputs(a ? "x" : "y", out); fputc('\\n', out); write(fd, a, b); self->write(out, a);
                snprintf(a, b, "%s", c);\n"""}), (0, ""))

    def test_refuses_all_else(self):
        for text in ('printf("%s", name);', 'fprintf(stderr, "a" "%-16.*s", 3, name);', "printf(name);", "puts(name);",
                     "fputs(name, out);", "fputc(*at, out);", "fwrite(a, 1, 2, stdout);", "vfprintf(a, b, c);",
                     'perror("x");', "write(STDERR_FILENO, a, b);", 'fputs(a ? name : "y", out);'):
            status, words = check("check-words.py", **{"src__host__cli__a.c": f"int a;\n\t{text}\n"})
            self.assertEqual(status, 1, text)
            self.assertIn("src/host/cli/a.c:2: ", words)


class Statics(unittest.TestCase):
    def test_accepts_nouns_with_verbs(self):
        self.assertEqual(check("check-statics.py", **{
            "src__host__cli__a.c": "static int row_take(void)\n{\n}\nint take(void)\n{\n}\nstatic inline int plural(void)\n{\n}\n"}),
            (0, ""))

    def test_refuses_a_bare_word(self):
        for text in ("static int take(void)", "static const struct row *take(int a,\n\tint b)", "static CLEANUP(x) int take(void)"):
            status, words = check("check-statics.py", **{"src__host__cli__a.c": f"int a;\n{text}\n{{\n}}\n"})
            self.assertEqual(status, 1, text)
            self.assertIn("src/host/cli/a.c:2: take() ", words)


class Documents(unittest.TestCase):
    base = {"src__host__cli__main.c": "", "docs__guide.md": "see [the README](../README.md) and `src/host/cli/main.c`\n"}

    def test_accepts_what_is_there(self):
        self.assertEqual(check("check-documents.py", **self.base, **{
            "README.md": "[guide](docs/guide.md#first), [a site](https://example.org/x), `src/host/cli/cmd_NAME.c`\n"}), (0, ""))

    def test_refuses_what_is_not(self):
        for text, name in (("[guide](docs/guides.md)", "docs/guides.md"), ("`src/host/cli/gone.c`", "src/host/cli/gone.c"),
                           ("long " * 3000, "README.md"), ("wide " * 30, "README.md:1")):
            status, words = check("check-documents.py", **self.base, **{"README.md": text + "\n"})
            self.assertEqual(status, 1, text[:40])
            self.assertIn(name, words)

    def test_names_every_route(self):
        status, words = check("check-documents.py", **self.base, **{
            "README.md": "", "docs__ui-api.md": "GET /api/a\n",
            "src__host__ui__request__routes.def": 'ROUTE(A, a, GET, "/api/a", 0)\nROUTE(B, b, GET, "/api/b", 0)\n'})
        self.assertEqual((status, words), (1, "docs/ui-api.md: the route /api/b is missing\n"))


@unittest.skipUnless(shutil.which("git"), "no git")
class Commits(unittest.TestCase):
    def judge(self, message):
        with tempfile.TemporaryDirectory() as scratch:
            git = ["git", "-C", scratch, "-c", "user.name=a", "-c", "user.email=a@example.org"]
            subprocess.run([*git, "init", "-q"], check=True)
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True,
                           env={"GIT_COMMITTER_DATE": "2030-01-01T00:00:00Z", "PATH": "/usr/bin:/bin"})
            done = subprocess.run([sys.executable, TOOLS / "check-commits.py", scratch], capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_wants_a_short_subject_and_a_body(self):
        self.assertEqual(self.judge("area: do something\n\nThe reason."), (0, ""))
        self.assertIn("no body", self.judge("area: do something")[1])
        self.assertIn("73 columns", self.judge("a" * 73 + "\n\nThe reason.")[1])


if __name__ == "__main__":
    unittest.main()
