"""Programs that limpet records, and the stacks that it exports."""

import atexit
import json
import os
import pathlib
import subprocess
import tempfile

from exactness import running

LIMPET = os.environ["LIMPET"]
RATE = 499
LIMIT = 300
CACHE = tempfile.TemporaryDirectory()  # unwind tables of this limpet, not those that another build has left
atexit.register(CACHE.cleanup)


class Refused(Exception):
    """This machine does not allow the sampler."""


def limpet(*words):
    return subprocess.run([LIMPET, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                          timeout=LIMIT, env={**os.environ, "XDG_CACHE_HOME": CACHE.name})


def record(command, folder, sampler, least=150):
    """(what limpet says at the end, [(names from the outermost on, how often), ...]), of so many samples at least:
    on a busy machine a program gets few."""
    path = pathlib.Path(folder) / "recording"
    with running(*command) as process:
        for seconds in (0.5, 2, 5, 15, 30):
            done = limpet("record", "-p", str(process.pid), "-F", str(RATE), "--sampler", sampler, "-d", f"{seconds}s",
                          "-o", str(path), "--json")
            if done.returncode == 3:
                raise Refused(done.stderr)
            said = [json.loads(line) for line in done.stdout.splitlines()]
            totals = next((line for line in said if "complete_percent" in line), None)
            assert totals, (done.stdout, done.stderr)
            if totals["samples"] >= least:
                break
    return totals, stacks(path)


def stacks(path):
    folded = path.with_suffix(".folded")
    done = limpet("export", str(path), "-f", "folded", "-o", str(folded))
    assert done.returncode == 0, done.stderr
    found = []
    for line in folded.read_text(encoding="utf-8").splitlines():
        names, count = line.rsplit(" ", 1)
        found.append((names.split(";")[1:], int(count)))
    return found
