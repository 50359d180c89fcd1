"""Counts what a test script tried and says how it ended, in the words that ./dev and people read."""


class Report:
    """Prints "ok NAME", "not ok NAME: why" or "ok NAME # skip why" as results come."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def ok(self, name, note=""):
        self.passed += 1
        print(f"ok {name}{' - ' + note if note else ''}", flush=True)

    def not_ok(self, name, why):
        self.failed += 1
        print(f"not ok {name}: {why}", flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"ok {name} # skip {why}", flush=True)

    def check(self, name, problem, note=""):
        """problem is what went wrong, or nothing."""
        if problem:
            self.not_ok(name, problem)
        else:
            self.ok(name, note)
        return not problem

    def read_line(self, line):
        """Counts a line that another machine printed."""
        if line.startswith("not ok "):
            self.failed += 1
        elif line.startswith("ok "):
            self.skipped += "# skip" in line
            self.passed += "# skip" not in line

    def end(self):
        """The last line; the exit status to end with."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"\n{self.passed} passed, {self.failed} failed{skipped}", flush=True)
        return 1 if self.failed or not self.passed else 0


def table(rows):
    """Rows of cells as aligned columns, the first row is the head."""
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *rest = (str(cell) for cell in row)
        print("  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:]))]))
