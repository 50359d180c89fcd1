"""A terminal for tests: a pty, and as much of a VT100 as ncurses asks of one. Python's standard library only."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time

CSI = re.compile(r"\x1b\[([?>]?)([0-9;]*)([@A-Za-z])")
# Keypad, character sets, cursor save and restore, the usual palette: of no consequence for what is seen.
SILENT = re.compile(r"\x1b([()][0AB]|[=>78]|\]104\x07)")


class Screen:
    """Cells, a cursor, and what was asked for that is not understood."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.cells = self.blank()
        self.x = self.y = 0
        self.top, self.bottom = 0, height - 1
        self.colors, self.modes, self.strange = set(), set(), []
        self.rest = ""

    def blank(self):
        return [[" "] * self.width for _ in range(self.height)]

    def resize(self, width, height):
        self.width, self.height = width, height
        self.cells = self.blank()
        self.x = self.y = self.top = 0
        self.bottom = height - 1

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def feed(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
                continue
            match = CSI.match(text, at) or SILENT.match(text, at)
            if match:
                if match.re is CSI:
                    self.control(*match.groups())
                at = match.end()
            elif text[at + 1:at + 2] in ("M", "D"):
                self.scroll_at_edge(text[at + 1])
                at += 2
            elif len(text) - at < 16:
                self.rest = text[at:]
                return
            else:
                self.strange.append(text[at:at + 16])
                at += 1

    def put(self, char):
        if char == "\n":
            self.scroll_at_edge("D")
        elif char == "\r":
            self.x = 0
        elif char == "\b":
            self.x = max(self.x - 1, 0)
        elif char == "\t":
            self.x = min((self.x // 8 + 1) * 8, self.width - 1)
        elif char in "\0\x0e\x0f\x07":
            if char == "\x07":
                self.strange.append("bell")
        elif ord(char) < 0x20 or 0x7f <= ord(char) < 0xa0:
            self.strange.append(repr(char))
        else:
            if self.x >= self.width:
                self.x = 0
                self.scroll_at_edge("D")
            self.cells[self.y][self.x] = char
            self.x += 1

    def scroll_at_edge(self, way):
        if way == "D" and self.y == self.bottom:
            self.scroll(1)
        elif way == "M" and self.y == self.top:
            self.scroll(-1)
        else:
            self.y = min(max(self.y + (1 if way == "D" else -1), 0), self.height - 1)

    def scroll(self, rows):
        region = self.cells[self.top:self.bottom + 1]
        for _ in range(abs(rows)):
            region = (region[1:] + [[" "] * self.width]) if rows > 0 else ([[" "] * self.width] + region[:-1])
        self.cells[self.top:self.bottom + 1] = region

    def erase(self, cells):
        for y, x in cells:
            if y < self.height and x < self.width:
                self.cells[y][x] = " "

    def control(self, mark, numbers, end):
        values = [int(number) if number else 0 for number in numbers.split(";")]
        first = values[0] or 1
        row = [(self.y, x) for x in range(self.width)]
        x = min(self.x, self.width - 1)
        if mark:
            self.modes = self.modes | set(values) if end == "h" else self.modes - set(values)
        elif end in "Hf":
            self.y, self.x = first - 1, (values[1] or 1) - 1 if len(values) > 1 else 0
        elif end in "ABCD":
            self.y += {"A": -first, "B": first}.get(end, 0)
            self.x = x + {"C": first, "D": -first}.get(end, 0)
        elif end == "G":
            self.x = first - 1
        elif end == "d":
            self.y = first - 1
        elif end == "J":
            below = [(y, c) for y in range(self.y + 1, self.height) for c in range(self.width)]
            above = [(y, c) for y in range(self.y) for c in range(self.width)]
            self.erase({0: row[x:] + below, 1: row[:x + 1] + above, 2: row + below + above}[values[0]])
        elif end == "K":
            self.erase({0: row[x:], 1: row[:x + 1], 2: row}[values[0]])
        elif end == "X":
            self.erase(row[x:x + first])
        elif end == "P":
            cells = self.cells[self.y]
            self.cells[self.y] = cells[:x] + cells[x + first:] + [" "] * min(first, self.width - x)
        elif end == "@":
            cells = self.cells[self.y]
            self.cells[self.y] = (cells[:x] + [" "] * first + cells[x:])[:self.width]
        elif end in "LM":
            top, self.top = self.top, self.y
            self.scroll(first if end == "M" else -first)
            self.top = top
        elif end in "ST":
            self.scroll(first if end == "S" else -first)
        elif end == "r":
            self.top = first - 1
            self.bottom = (values[1] or self.height) - 1 if len(values) > 1 else self.height - 1
            self.x = self.y = 0
        elif end == "b":
            for _ in range(first):
                self.put(self.cells[self.y][self.x - 1])
        elif end == "m":
            self.colors |= {value for value in values if 30 <= value <= 49 or 90 <= value <= 107}
        elif end not in "hlt":
            self.strange.append(f"CSI {numbers}{end}")
        self.x, self.y = max(self.x, 0), min(max(self.y, 0), self.height - 1)


class Terminal:
    """A program on a pty of its own."""

    def __init__(self, command, width=80, height=24, environment=None):
        self.master, self.slave = os.openpty()
        self.screen = Screen(width, height)
        self.seen = b""
        self.resize(width, height)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(command, stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                        env=environment, start_new_session=True, preexec_fn=self.take)

    @staticmethod
    def take():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, width, height):
        self.screen.resize(width, height)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def read(self, wait_s):
        if not select.select([self.master], [], [], wait_s)[0]:
            return False
        data = os.read(self.master, 65536)
        self.seen += data
        self.screen.feed(data.decode("utf-8", "replace"))
        return True

    def wait(self, condition, limit_s=60):
        """True when the screen becomes so in time."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if condition(self.screen):
                return True
            self.read(0.1)
        return condition(self.screen)

    def wait_for(self, *texts, limit_s=60):
        return self.wait(lambda screen: all(text in screen.text() for text in texts), limit_s)

    def finish(self, limit_s=60):
        """The exit code, after all output was taken."""
        end = time.monotonic() + limit_s
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read(0):
            pass
        return self.process.poll()

    def is_as_before(self):
        return termios.tcgetattr(self.slave) == self.before

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)
