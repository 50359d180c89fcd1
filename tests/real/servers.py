"""The live programs: how each is started, which of its processes is attached to, what loads it.

All listen on the loopback device or a socket file only, live in a temporary directory, and are
ended by the pid that started them.
"""

import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "common"))
from progress import Progress, work_of  # noqa: E402

from load import REDIS_REQUESTS, Load, SelfLoad, count_pgbench, count_redis, count_self, count_wrk

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
GOES_ON_S = 3.0


class Unavailable(Exception):
    """A program that is needed is not there or did not start."""


def find(name, *folders):
    """The path of a program; folders are patterns of directories that are not in PATH."""
    elsewhere = sorted(path for folder in folders for path in glob.glob(f"{folder}/{name}"))
    found = [path for path in (shutil.which(name), *elsewhere) if path]
    if not found:
        raise Unavailable(f"{name} is not installed")
    return found[0]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise Unavailable(f"{what} did not come in {timeout_s} s")
        time.sleep(0.05)


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def children(pid):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


class Server:
    """One program in a temporary directory. Subclasses give name, open() and load()."""

    end_signal = signal.SIGTERM
    least = {}  # of complete stacks in percent, by sampler, where it is not what others reach
    functions = ()  # of its language, that take its time
    is_known_to_gdb = True  # its stacks, and where its interpreter runs
    has_methods = False  # of Java, which the JDK's debugger knows

    def __init__(self, folder):
        self.folder, self.process, self.port = folder, None, free_port()

    def start(self, *argv, **options):
        options.setdefault("stdout", open(self.folder / "log", "wb"))
        self.process = subprocess.Popen(
            list(map(str, argv)), stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, cwd=self.folder, **options
        )

    def wait_port(self):
        wait_for(lambda: answers(self.port) or self.process.poll() is not None, f"{self.name} on its port")
        if self.process.poll() is not None:
            raise Unavailable(f"{self.name} ended: {(self.folder / 'log').read_text()[-300:]}")

    def targets(self):
        """The processes that do the work now."""
        return [self.process.pid]

    def goes_on_problem(self, seconds=GOES_ON_S):
        """Loads the server once more, after limpet has left, and watches its processes: what is wrong, or None."""
        load = self.load().start()
        try:
            wait_for(lambda: load.problem or self.process.poll() is not None or self.targets(), "a working process")
            work = lambda: sum(map(work_of, {self.process.pid, *self.targets()}))
            problem = Progress(self.process.pid, work, self.process).problem(seconds)
        finally:
            load.finish()
        return problem or load.problem

    def close(self):
        if not self.process:
            return
        self.process.send_signal(self.end_signal)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wrk(self):
        argv = [find("wrk"), "-t2", "-c16", "-d2s", "--timeout", "20s", f"http://127.0.0.1:{self.port}/"]
        return Load(argv, count_wrk)


class Redis(Server):
    name = "redis"

    def open(self):
        options = f"--port {self.port} --bind 127.0.0.1 --appendonly no --io-threads 2 --dir {self.folder}"
        self.start(find("redis-server"), *options.split(), "--save", "")
        self.wait_port()

    def load(self):
        options = f"-h 127.0.0.1 -p {self.port} -n {REDIS_REQUESTS} -c 20 -t set,get,incr,lpush --csv"
        return Load([find("redis-benchmark"), *options.split()], count_redis)


class Postgres(Server):
    name = "postgres"
    end_signal = signal.SIGINT
    folders = ("/usr/lib/postgresql/*/bin",)

    def command(self, name, *arguments):
        """The server refuses to run as root: then the user postgres does."""
        drop = [] if os.geteuid() else "setpriv --reuid postgres --regid postgres --init-groups --".split()
        return [*drop, find(name, *self.folders), *map(str, arguments)]

    def call(self, *argv):
        done = subprocess.run(argv, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"{argv[-1]}: {done.stderr.strip()[-300:]}")

    def open(self):
        data = self.folder / "data"
        if not os.geteuid():
            shutil.chown(self.folder, "postgres")
        self.user = "postgres" if not os.geteuid() else pwd.getpwuid(os.geteuid()).pw_name
        self.call(*self.command("initdb", "-A", "trust", "--no-sync", "-U", self.user, "-D", data))
        self.start(*self.command("postgres", "-D", data, "-k", self.folder, "-p", self.port, "-h", "", "-F"))
        wait_for(self.is_ready, "postgres on its socket")
        self.call(*self.pgbench("-i", "-s", "2", "-q"))

    def is_ready(self):
        argv = self.command("pg_isready", "-q", "-h", self.folder, "-p", self.port)
        return subprocess.run(argv).returncode == 0

    def pgbench(self, *options):
        return self.command("pgbench", "-h", self.folder, "-p", self.port, "-U", self.user, *options, "postgres")

    def load(self):
        return Load(self.pgbench("-c", "4", "-j", "2", "-T", "30"), count_pgbench)

    def targets(self):
        """Backends with a client, not the writers and the archiver."""
        return [pid for pid in children(self.process.pid) if b"[local]" in command_line(pid)]


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


class Nginx(Server):
    name = "nginx"
    workers = 2

    def open(self):
        (self.folder / "index.html").write_text("limpet\n" * 2000)
        self.folder.chmod(0o755)
        (self.folder / "nginx.conf").write_text(self.configuration())
        self.start(find("nginx", "/usr/sbin"), "-p", self.folder, "-c", self.folder / "nginx.conf")
        self.wait_port()

    def configuration(self):
        kinds = "client_body proxy fastcgi uwsgi scgi".split()
        paths = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in kinds)
        return (
            f"daemon off; worker_processes {self.workers}; pid {self.folder}/pid; error_log {self.folder}/error.log;\n"
            f"events {{ worker_connections 256; }}\n"
            f"http {{ access_log off; {paths} keepalive_requests 1000;\n"
            f"server {{ listen 127.0.0.1:{self.port}; root {self.folder}; }} }}\n"
        )

    def load(self):
        return self.wrk()

    def targets(self):
        return children(self.process.pid)


class Python(Server):
    name = "python3"

    def open(self):
        own = "/usr/bin/python3"  # Debian's, whatever else is in PATH
        self.start(own if os.path.exists(own) else find("python3"), PROGRAMS / "work.py", stdout=subprocess.PIPE, text=True)

    def load(self):
        return SelfLoad(self.process)


class Node(Server):
    name = "node"

    def open(self):
        self.start(find("node"), PROGRAMS / "server.js", self.port)
        self.wait_port()

    def load(self):
        return self.wrk()


class Java(Server):
    name, has_methods = "java", True

    def open(self):
        done = subprocess.run(
            [find("javac"), "-d", self.folder, PROGRAMS / "Work.java"], capture_output=True, text=True
        )
        if done.returncode:
            raise Unavailable(f"javac: {done.stderr[-300:]}")
        self.start(find("java"), "-Xmx256m", "-cp", self.folder, "Work", stdout=subprocess.PIPE, text=True)

    def load(self):
        return SelfLoad(self.process)


class Go(Server):
    """A copy holds one stack: where Go's runtime works on a thread's own, the goroutine's is read later, if at all.
    gdb does not know of goroutines."""

    name = "go"
    flags, rest, is_known_to_gdb = (), "work_plain.go", False
    least = {"copy": 90}

    def open(self):
        files = [PROGRAMS / "work.go", PROGRAMS / self.rest]
        environment = {**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOCACHE": str(self.folder / "cache")}
        done = subprocess.run([find("go"), "build", *self.flags, "-o", self.folder / "work", *files], env=environment,
                              capture_output=True, text=True)  # fmt: skip
        if done.returncode:
            raise Unavailable(f"go build: {done.stderr[-300:]}")
        self.start(self.folder / "work", stdout=subprocess.PIPE, text=True)

    def load(self):
        return SelfLoad(self.process)


class GoStripped(Go):
    name = "go-stripped"
    flags = ("-ldflags=-s -w",)


class GoWithC(Go):
    name = "go-cgo"
    rest = "work_cgo.go"
    least = {"copy": 80}


class Ruby(Server):
    name = "ruby"
    is_known_to_gdb = False
    functions = ("hashing", "objects", "sorting")

    def open(self):
        self.start(find("ruby"), PROGRAMS / "work.rb", stdout=subprocess.PIPE, text=True)

    def load(self):
        return SelfLoad(self.process)


class Perl(Server):
    name = "perl"
    functions = ("main::counting", "main::sorting", "main::matching")

    def open(self):
        self.start(find("perl"), PROGRAMS / "work.pl", stdout=subprocess.PIPE, text=True)

    def load(self):
        return SelfLoad(self.process)


class Php(Server):
    """php-fpm, asked by a client of our own."""

    name = "php"
    functions = ("hashing", "Page::sorting", "<main>")

    def open(self):
        shutil.copy(PROGRAMS / "page.php", self.folder)
        user = pwd.getpwuid(os.getuid()).pw_name
        (self.folder / "fpm.conf").write_text(
            f"[global]\npid = {self.folder}/pid\nerror_log = {self.folder}/errors\ndaemonize = no\n"
            f"[www]\nlisten = {self.folder}/socket\nuser = {user}\ngroup = {user}\n"
            f"pm = static\npm.max_children = 1\n"
        )
        program = find("php-fpm*", "/usr/sbin")
        self.start(program, "--allow-to-run-as-root", "--nodaemonize", "--fpm-config", self.folder / "fpm.conf")
        wait_for(lambda: (self.folder / "socket").exists() or self.process.poll() is not None, "php-fpm's socket")

    def targets(self):
        return children(self.process.pid)

    def load(self):
        argv = [sys.executable, PROGRAMS / "fastcgi.py", self.folder / "socket", self.folder / "page.php", "2"]
        return Load(list(map(str, argv)), count_self)


SERVERS = (Redis, Postgres, Nginx, Python, Node, Java, Ruby, Php, Perl)
