"""
Attach, wait, detach: what rocprof-attach and rocprofv3-attach.py share.  Lives in lib/limpet, beside the
libraries that it loads.  Python's standard library only.
"""

import ctypes
import os
import pathlib
import select
import signal
import struct
import sys
import threading
import time

LIBRARIES = pathlib.Path(__file__).resolve().parent.parent
TOOL_VARIABLE = "ROCPROF_ATTACH_TOOL_LIBRARY"
SCOPE_VARIABLE = "LIMPET_ALL_DESCENDANTS"
NO_SUCH_PROCESS = 6


class AttachError(RuntimeError):
    """What failed, for a person."""


def to_number(text, what):
    """An int from an option, an argument or a variable; None and empty text stay None."""
    if text is None or text == "":
        return None
    try:
        number = int(text)
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise AttachError(f"'{text}' is not {what}")
    return number


def to_pid(text):
    pid = to_number(text, "a process number")
    if not pid:
        raise AttachError("no process given: give a process ID, or set ROCPROF_ATTACH_PID")
    return pid


def to_milliseconds(text):
    return to_number(text, "a number of milliseconds")


def is_true(text):
    return str(text).strip().lower() not in ("0", "false", "no", "off", "n", "f")


def exports(path, name):
    """Whether a 64-bit ELF library defines a symbol, without loading it."""
    try:
        data = pathlib.Path(path).read_bytes()
        return any(name == found for found in elf_exports(data))
    except (OSError, struct.error, IndexError, ValueError):
        return False


def elf_exports(data):
    """The names in .dynsym that have a definition."""
    if data[:5] != b"\x7fELF\x02":
        return
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQII", data, offset + i * size) for i in range(count)]
    for _, kind, _, _, start, length, link, _ in sections:
        if kind != 11:  # SHT_DYNSYM
            continue
        names = sections[link][4]
        for at in range(start, start + length, 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            if section:
                yield data[names + name:data.index(b"\0", names + name)].decode(errors="replace")


def split_list(text):
    """Paths separated by colons, commas or spaces."""
    for separator in ", ":
        text = text.replace(separator, ":")
    return [path for path in text.split(":") if path]


def find_library(name):
    """A bare name is looked for beside this module's own libraries first."""
    beside = LIBRARIES / name
    return str(beside) if "/" not in name and beside.exists() else name


class AttachLibrary:
    """An attach library: AMD's rocattach interface, or the older pair attach and detach."""

    def __init__(self, path):
        self.path = find_library(path)
        try:
            self.library = ctypes.CDLL(self.path)
        except OSError as error:
            raise AttachError(f"cannot load the attach library: {error}") from error
        self.has_rocattach = hasattr(self.library, "rocattach_attach")
        if not self.has_rocattach and not hasattr(self.library, "attach"):
            raise AttachError(f"{self.path} is no attach library: it has neither rocattach_attach nor attach")

    def call(self, name, *arguments):
        function = getattr(self.library, name)
        function.restype = ctypes.c_int
        function.argtypes = [ctypes.c_int] * len(arguments)
        return function(*arguments)

    def name(self, verb, with_children):
        """rocattach_attach_tree or rocattach_attach; AMD's first rocattach had no trees."""
        tree = f"rocattach_{verb}_tree"
        return tree if with_children and hasattr(self.library, tree) else f"rocattach_{verb}"

    def attach(self, pid, with_children):
        if self.has_rocattach:
            return self.call(self.name("attach", with_children), pid)
        os.environ["ROCPROF_ATTACH_CHILDREN"] = "1" if with_children else "0"
        return self.legacy_status(self.call("attach", pid))

    def detach(self, pid, with_children):
        if self.has_rocattach:
            return self.call(self.name("detach", with_children), pid)
        return self.legacy_status(self.call("detach"))

    def legacy_status(self, returned):
        """AMD's older attach() returned nothing; what ctypes then reads is no status."""
        return returned if hasattr(self.library, "limpet_attach_status") else 0

    def status_name(self, status):
        if self.has_rocattach and hasattr(self.library, "rocattach_get_status_string"):
            function = self.library.rocattach_get_status_string
            function.restype = ctypes.c_char_p
            text = function(status)
            if text:
                return f"{text.decode()} (status {status})"
        return f"status {status}"


def confirm_scope(library, pid):
    """Asks on a terminal before very many descendants, or those of several users, are attached to.  The library
    itself refuses them where this has not set the variable."""
    function = getattr(library.library, "limpet_private_scope", None)
    text = ctypes.create_string_buffer(256)
    is_terminal = all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr))  # None: closed
    if not function or not is_terminal or not function(pid, text, len(text)):
        return
    print(f"{text.value.decode()}. Load code into all of them? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline()[:1] in ("y", "Y"):
        os.environ[SCOPE_VARIABLE] = "1"


class Signals:
    """SIGINT and SIGTERM become bytes in a pipe while this is entered, so that none is lost in a call."""

    def __enter__(self):
        self.read_end, self.write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.caught = None
        self.before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.before[number] = signal.signal(number, self.note)
        return self

    def note(self, number, _frame):
        self.caught = signal.Signals(number).name
        os.write(self.write_end, b"!")

    def __exit__(self, *_):
        for number, handler in self.before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        os.close(self.read_end)
        os.close(self.write_end)


def open_process(pid):
    """A descriptor that becomes readable when the process ends, or None where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def input_descriptor():
    try:
        return sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return None


def wait(signals, process, duration_ms):
    """Until something ends it: "signal", "duration", "enter" or "exit"."""
    keyboard = input_descriptor() if duration_ms is None else None
    end = None if duration_ms is None else time.monotonic() + duration_ms / 1000
    while True:
        sources = [fd for fd in (signals.read_end, process, keyboard) if fd is not None]
        left = None if end is None else max(0, end - time.monotonic())
        ready, _, _ = select.select(sources, [], [], left)
        if signals.read_end in ready:
            return "signal"
        if process in ready:
            return "exit"
        if not ready:
            return "duration"
        typed = os.read(keyboard, 4096)
        if b"\n" in typed:
            return "enter"
        if not typed:  # the end of the input is not Enter
            keyboard = None


def say(text, end="\n"):
    print(text, end=end, flush=True)


def leave(library, pid, with_children, reason):
    status = library.detach(pid, with_children)
    if reason == "exit" or status == NO_SUCH_PROCESS:
        say(f"PID {pid} has ended")
    elif status:
        raise AttachError(f"detaching from PID {pid} failed: {library.status_name(status)}")
    else:
        say(f"Detaching from PID {pid} using library {library.path} :: success")


def stay(library, pid, with_children, duration_ms, signals):
    process = open_process(pid)
    try:
        status = library.attach(pid, with_children)
        if status:
            raise AttachError(f"attaching to PID {pid} failed: {library.status_name(status)}")
        say(f"Attaching to PID {pid} using library {library.path} :: success")
        if duration_ms is None:
            say("Press Enter to detach...", end="")
        reason = wait(signals, process, duration_ms)
    finally:
        if process is not None:
            os.close(process)
    if reason == "signal":
        say(f"\nCaught signal {signals.caught}, detaching")
    leave(library, pid, with_children, reason)


def run(pid, tools, duration_ms, attach_library, with_children):
    """One whole visit.  tools is a list as in the variable, None: what the environment says."""
    if tools is not None:
        os.environ[TOOL_VARIABLE] = tools
    library = AttachLibrary(attach_library)
    if with_children:
        confirm_scope(library, pid)
    say(f"Attaching to PID {pid} using library {library.path}")
    with Signals() as signals:
        stay(library, pid, with_children, duration_ms, signals)
