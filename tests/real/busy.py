"""Programs that work for ever at what their command line says, or that are compiled here first."""

import os
import pathlib
import subprocess

from load import NoLoad
from servers import PROGRAMS, SERVERS, Go, GoStripped, GoWithC, Server, Unavailable, children, find, wait_for

JIT = pathlib.Path(__file__).resolve().parent.parent / "sampling/jit"


class Busy(Server):
    """A program that works for ever at what its command line says."""

    arguments = ()

    def open(self):
        self.start(find(self.program), *self.arguments, stdout=subprocess.DEVNULL)

    def build(self, program, *arguments):
        done = subprocess.run([find(program), *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"{program}: {done.stderr[-300:]}")

    def load(self):
        return NoLoad()


class Ffmpeg(Busy):
    """x264's assembly has no rules; part of it keeps its stack pointer in rcx across calls, on aarch64 return addresses in x4
    and others. It has frames that are larger than a copy of a stack: the rest is read a moment later."""

    name = program = "ffmpeg"
    arguments = ("-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25",
                 "-c:v", "libx264", "-f", "null", "-")
    least = {"bpf": 97.0, "copy": 85.0} if os.uname().machine == "x86_64" else {"copy": 97.0}


class Lua(Busy):
    """Told by the lines where its functions begin."""

    name, program = "lua", "lua5.4"
    arguments = (PROGRAMS / "work.lua",)
    functions = ("function <work.lua:2>", "function <work.lua:10>", "function <work.lua:18>")


class LuaJit(Lua):
    """gdb goes by its .eh_frame, which knows nothing of what it compiles and calls. A frame is found by what its state says,
    which is read later than a copy is made, and has moved on where the compiler runs while compiled code is left."""

    name = program = "luajit"
    functions = ("<main>",) if os.uname().machine == "x86_64" else ()  # known there only
    is_known_to_gdb = False
    least = {"bpf": 99.0, "copy": 90.0}


class Sqlite(Busy):
    name = program = "sqlite3"
    arguments = (":memory:", "with recursive n(x) as (select 1 union all select x + 1 from n) select sum(x) from n;")


class Xz(Busy):
    name = program = "xz"
    arguments = ("-c", "-T1", "/dev/urandom")


class Openssl(Busy):
    """On aarch64 its assembly has no rules, and gdb guesses there."""

    name = program = "openssl"
    arguments = ("speed", "-seconds", "600", "sha256")
    is_known_to_gdb = os.uname().machine == "x86_64"


class Awk(Busy):
    name = program = "awk"
    arguments = ("BEGIN { for (n = 0; ; n++) { a[n % 97] = sprintf(\"%d\", n); gsub(/1/, \"x\", a[n % 97]) } }",)


class Guile(Busy):
    """gdb knows nothing of what it compiles."""

    name = program = "guile"
    is_known_to_gdb = False
    least = {"bpf": 0.0, "copy": 0.0}

    def open(self):
        compiled = self.folder / "hot.go"
        self.build("guile", "-c", f'(compile-file "{JIT}/hot.scm" #:output-file "{compiled}")')
        self.arguments = ("-c", f'(load-compiled "{compiled}")')
        super().open()


class Erlang(Busy):
    """Its code keeps no frames: stacks end there, and say so."""

    name, program = "erlang", "erl"
    is_known_to_gdb = False
    least = {"bpf": 0.0, "copy": 0.0}
    arguments = ("-noshell", "-noinput", "-s", "hot", "main")

    def open(self):
        self.build("erlc", JIT / "hot.erl")
        super().open()


class R(Busy):
    """The program is a shell script that becomes R."""

    name, program = "r", "R"
    arguments = ("--vanilla", "--no-echo", "-e", "repeat { m <- matrix(runif(40000), 200); s <- sum(solve(m)) + sum(sort(m)) }")


class Prolog(Busy):
    name, program = "prolog", "swipl"
    arguments = ("-q", "-g", "repeat, numlist(1, 100000, L), msort(L, _), sum_list(L, _), fail")


class Octave(Busy):
    name, program = "octave", "octave-cli"
    arguments = ("--norc", "--quiet", "--eval", "while true; a = rand(120); b = inv(a); s = regexprep(num2str(sort(b(:))(1)), '1', 'x'); end")


class Zstd(Busy):
    name = program = "zstd"
    arguments = ("-q", "-b5", "-i600")


class Compiled(Busy):
    """A program of ours, in another language."""

    def open(self):
        self.build(*self.compiler, "-o", self.folder / "work", PROGRAMS / self.source)
        self.program = str(self.folder / "work")
        super().open()


class Rust(Compiled):
    name, source, compiler = "rust", "work.rs", ("rustc", "-O")


class Fortran(Compiled):
    name, source, compiler = "fortran", "work.f90", ("gfortran", "-O2", "-fopenmp")


class OCaml(Compiled):
    """It recurses deeper than a copy of a stack reaches."""

    least = {"copy": 97.0}
    name, source, compiler = "ocaml", "work.ml", ("ocamlopt",)

    def open(self):
        """It writes beside the source."""
        copy = self.folder / self.source
        copy.write_text((PROGRAMS / self.source).read_text())
        self.source = copy
        super().open()


class Ada(Compiled):
    """Two tasks. The compiler writes beside the source, too."""

    name, source, compiler = "ada", "work.adb", ("gnatmake", "-q", "-O2")


class Pascal(Compiled):
    """The compiler wants its output's name in one word with the option, and writes no unwind rules: gdb guesses there."""

    name, source, is_known_to_gdb = "pascal", "work.pas", False

    def open(self):
        self.program = str(self.folder / "work")
        self.build("fpc", "-O2", f"-o{self.program}", f"-FU{self.folder}", PROGRAMS / self.source)
        Busy.open(self)


class SevenZip(Busy):
    """LZMA with threads and assembly."""

    name, program = "7zip", "7zz"
    arguments = ("b", "10000", "-mmt2", "-md18")


class Gcc(Busy):
    """The compiler itself, again and again on one large file. Parts of it need more of the stack than a copy has at first."""

    name = "gcc"
    least = {"copy": 97.0}

    def open(self):
        source = self.folder / "large.c"
        source.write_text("".join(
            f"int f{n}(int a, int b) {{ int s = {n}; for (int i = 0; i < a; i++) {{ s += (i * {n + 3}) ^ b; if (s % 7 == b) s -= a; }} return s; }}\n"
            for n in range(20000)))  # fmt: skip
        self.start("sh", "-c", f"while :; do {find('cc1', '/usr/lib/gcc/*/*')} -quiet -O2 {source} -o /dev/null; done")

    def targets(self):
        return children(self.process.pid)

    def close(self):
        running = children(self.process.pid)
        super().close()
        for pid in running:
            try:
                os.kill(pid, 15)
            except ProcessLookupError:
                pass


class Mariadb(Server):
    name = "mariadb"

    def open(self):
        data = self.folder / "data"
        own = ["--no-defaults", f"--datadir={data}", f"--socket={self.folder}/socket"]
        own += ["--user=root"] if not os.geteuid() else []
        done = subprocess.run([find("mariadb-install-db"), *own, "--auth-root-authentication-method=normal"], capture_output=True)
        if done.returncode:
            raise Unavailable(f"mariadb-install-db: {done.stdout[-300:]}")
        self.start(find("mariadbd", "/usr/sbin"), *own, "--skip-networking", "--skip-grant-tables")
        wait_for((self.folder / "socket").exists, "mariadbd's socket")
        self.client = None

    def load(self):
        asked = "select benchmark(1000000000, sha2(concat(rand(), now()), 512))"
        if not self.client:
            self.client = subprocess.Popen([find("mariadb"), "--no-defaults", "-S", self.folder / "socket", "-e", asked],
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        return NoLoad()

    def close(self):
        super().close()
        if self.process and self.client:
            self.client.kill()
            self.client.wait()


BUSY = (Ffmpeg, Lua, LuaJit, Guile, Erlang, R, Prolog, Octave, Sqlite, Xz, Zstd, Openssl, Awk, Gcc, Rust, Fortran, OCaml, Ada, Pascal, SevenZip,
        Mariadb)
SAMPLED = (*SERVERS, Go, GoStripped, GoWithC, *BUSY)  # also what has no C library to be attached by
