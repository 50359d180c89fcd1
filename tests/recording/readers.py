"""
What exported files say, added up, by readers that know nothing of limpet's code: Python's csv and json, and
perfetto.py.
"""

import csv
import json

import perfetto


class Totals(dict):
    """{(kind, name): [how many, nanoseconds]}; kinds are call, range, mark.  bytes: {function: bytes allocated
    or moved}."""

    def __init__(self):
        super().__init__()
        self.bytes = {}

    def add(self, kind, name, duration_ns, domain="", values=()):
        found = self.setdefault((kind, name), [0, 0])
        found[0] += 1
        found[1] += duration_ns
        values = dict(values)
        if domain == "alloc" and values.get("size") and values.get("address") not in (None, "", "0x0"):
            self.bytes[name] = self.bytes.get(name, 0) + int(values["size"])
        if domain == "io":
            self.bytes[name] = self.bytes.get(name, 0) + max(0, int(values.get("result") or 0))


def marker_name(text, unfinished):
    return text or ("(began before)" if unfinished == "began before" else "(no name)")


def of_csv(path):
    totals = Totals()
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = (row["function"] if row["kind"] == "call" else
                    marker_name(row["text"], row["unfinished"]))
            totals.add(row["kind"], name, int(row["duration_ns"]), row["domain"], row)
    return totals


def of_json(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    totals = Totals()
    for call in content["calls"]:
        function, kind = content["functions"][call["function"]], call.get("kind", "call")
        name = (function["name"] if kind == "call" else
                marker_name(call.get("text"), call.get("unfinished")))
        totals.add(kind, name, call["duration_ns"], function["domain"], call)
    return totals


def of_chrome(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    totals = Totals()
    for event in content["traceEvents"]:
        if event["ph"] == "X":
            # A closing call that failed is no range: it is called like its function.
            is_call = event["cat"] != "marker" or event["name"] == event["args"]["function"]
            totals.add("call" if is_call else "range", event["name"], round(event["dur"] * 1000),
                       event["cat"], event["args"])
        elif event["ph"] == "i":
            totals.add("mark", event["name"], 0)
    return totals


def of_pftrace(path):
    totals = Totals()
    trace = perfetto.Trace(path)
    for slice_ in trace.slices:
        kind = "range" if "function" in slice_["args"] else "call"
        totals.add(kind, slice_["name"], slice_["end"] - slice_["begin"], slice_["category"], slice_["args"])
    for mark in trace.marks:
        totals.add("mark", mark["name"], 0)
    return totals


def of_report(events):
    """Of `limpet report --json`."""
    kinds = {"function": "call", "range": "range", "mark": "mark"}
    totals = Totals()
    for event in events:
        if event["event"] not in kinds:
            continue
        found = totals.setdefault((kinds[event["event"]], event["name"]), [0, 0])
        found[0] += event["calls"]
        found[1] += event.get("total_ns", 0)
        if "bytes" in event:
            totals.bytes[event["name"]] = totals.bytes.get(event["name"], 0) + event["bytes"]
    return totals


FORMATS = {".csv": of_csv, ".json": of_json, ".chrome.json": of_chrome, ".pftrace": of_pftrace}
