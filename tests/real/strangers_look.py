"""One look at a live program by two profilers at the same time: limpet's sampler, and perf with frame pointers.

Both give stacks as lists of (file, address in the file), innermost first; the file is None where none is mapped.
"""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

DRIVER = pathlib.Path(os.environ.get("BENCH", "build/bench")).parent / "tests/sampling/sampler_driver"
RATE_HZ = 4999
REFERENCE_HZ = 7993
BEGINS_S = 0.5
LIMIT_S = 120
FRAMES_MOST = 2000
KERNEL = 1 << 63

Sample = collections.namedtuple("Sample", "time_ns frames end is_guessed")


def look(pid, sampler, count, seconds):
    """(limpet's samples, the reference's chains as [(time, [(file, offset)])], samples that limpet lost)."""
    with tempfile.TemporaryDirectory(prefix="limpet-look-") as folder:
        data = f"{folder}/perf.data"
        perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(REFERENCE_HZ), "-k", "mono", "--call-graph", "fp",
                                 "-p", str(pid), "-o", data], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            time.sleep(BEGINS_S)
            said = subprocess.run([DRIVER, sampler, str(pid), str(RATE_HZ), str(seconds), f"max={count}"], capture_output=True, text=True,
                                  timeout=LIMIT_S, check=False, env={**os.environ, "XDG_CACHE_HOME": folder})  # fmt: skip
        finally:
            perf.send_signal(signal.SIGINT)
            perf.wait()
        samples, lost = samples_of(said.stdout)
        return samples, list(chains_of(data)), lost


def samples_of(text):
    raw, modules, lost = [], {}, 0
    for line in text.splitlines():
        (kind, value), = json.loads(line).items()
        if kind == "sample":
            raw.append(value)
        elif kind == "module":
            modules[value["number"]] = value["path"]
        elif kind == "counts":
            lost = value["lost"]
        elif kind == "error":
            raise AssertionError(f"limpet: {value['what']}: {value['why']}")
    return [Sample(one["time"], tuple((modules.get(number), address) for number, address in one["frames"]), one["end"], one["guessed"])
            for one in raw if one["frames"]], lost  # fmt: skip


def chains_of(data):
    """perf tells offsets in files, of what is mapped."""
    argv = ["perf", "script", "-F", "time,ip,dso", "--max-stack", str(FRAMES_MOST), "--ns", "-i", data]
    text = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False).stdout
    for block in text.split("\n\n"):
        when = re.match(r"\s*(\d+)\.(\d+):", block)
        frames = [(path, int(offset, 16)) for offset, path in re.findall(r"^\s+([0-9a-f]+) \((.*)\)$", block, re.MULTILINE)]
        frames = tuple((path if path != "[unknown]" else None, offset) for path, offset in frames if offset < KERNEL)
        if when and frames:
            yield int(when[1]) * 10**9 + int(when[2]), frames
