"""Pyroscope's server, built from Go's modules into the user's cache: takes what `limpet push` sends, and is asked by label for
functions and totals."""

import contextlib
import json
import shutil
import subprocess
import time
import urllib.request

from driving import harness

import gomodules

MODULE, VERSION = "github.com/grafana/pyroscope", "v1.6.0"
PROFILE_TYPE = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
HZ = 99  # as push samples when nothing is said
READY_S = 120
STORED_S = 30
HALF_A_SECOND_NS = 500_000_000
OPTIONS = ["-target=all", "-server.http-listen-address=127.0.0.1", "-server.grpc-listen-address=127.0.0.1",
           "-self-profiling.disable-push=true", "-usage-stats.enabled=false", "-config.show_banner=false",
           "-memberlist.bind-addr=127.0.0.1", "-memberlist.advertise-addr=127.0.0.1", "-memberlist.bind-port=0",
           *(f"-{ring}.instance-addr=127.0.0.1" for ring in ("distributor.ring", "compactor.ring", "store-gateway.sharding-ring",
                                                               "query-frontend", "query-scheduler.ring")),
           "-ingester.lifecycler.addr=127.0.0.1"]


def source_copy(folder):
    """The server's source as a main module: of another one replacements in go.mod do not count.  The module of its API that is
    published beside it is newer, and has calls of its service for source code that the server does not answer."""
    module = json.loads(gomodules.go(folder, "mod", "download", "-json", f"{MODULE}@{VERSION}"))["Dir"]
    source = shutil.copytree(module, folder / "source")
    subprocess.run(["chmod", "-R", "u+w", source], check=True)
    for path, old, new in (("go.mod", "=> ./api", f"=> {MODULE}/api {VERSION}"),
                           ("pkg/querier/vcs/service.go", "type Service struct {",
                            "type Service struct {\n\tvcsv1connect.UnimplementedVCSServiceHandler")):
        text = (source / path).read_text()
        if old not in text:
            raise gomodules.Unavailable(f"{path} of {MODULE} is not as it was")
        (source / path).write_text(text.replace(old, new))
    return source


def install():
    """The program; what is there stays."""
    program = gomodules.folder("pyroscope") / f"pyroscope-{VERSION}"
    if not program.exists():
        source = source_copy(gomodules.folder_make("pyroscope"))
        gomodules.go(source, "build", "-mod=mod", "-o", program, "./cmd/pyroscope")
    return program


def ask(url, path, question=None):
    body = None if question is None else json.dumps(question).encode()
    request = urllib.request.Request(url + path, body, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        return answer.read()


def is_ready(url):
    with contextlib.suppress(OSError):
        return ask(url, "/ready").strip() == b"ready"
    return False


@contextlib.contextmanager
def running(program, folder):
    """Its address."""
    http, grpc = gomodules.free_ports(2)
    with open(folder / "pyroscope.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen([program, *OPTIONS, f"-server.http-listen-port={http}", f"-server.grpc-listen-port={grpc}"],
                                   stdout=log, stderr=log, cwd=folder)
    url = f"http://127.0.0.1:{http}"
    try:
        if not harness.wait_until(lambda: process.poll() is not None or is_ready(url), READY_S) or process.poll() is not None:
            raise RuntimeError("pyroscope: " + (folder / "pyroscope.log").read_text(errors="replace")[-300:])
        yield url
    finally:
        process.kill()
        process.wait()


def stored(url, service):
    """({function: self}, total) of a service, in nanoseconds of CPU time."""
    now = int(time.time() * 1000)
    answer = json.loads(ask(url, "/querier.v1.QuerierService/SelectMergeStacktraces", {
        "profileTypeID": PROFILE_TYPE, "labelSelector": f'{{service_name="{service}"}}', "start": now - 3_600_000, "end": now + 60_000}))
    graph, own = answer.get("flamegraph", {}), {}
    for level in graph.get("levels", []):
        values = [int(value) for value in level["values"]]
        for _, _, self_value, name in zip(*[iter(values)] * 4):
            own[graph["names"][name]] = own.get(graph["names"][name], 0) + self_value
    return own, int(graph.get("total", 0))


def check_pushed(report, program, folder, push):
    """push(has_come, url): pushes a program whose service is "shop"; what push says has arrived."""
    with running(program, folder) as url:
        wanted = push(lambda: harness.wait_until(lambda: stored(url, "shop")[1] > HALF_A_SECOND_NS, READY_S), url)["samples"]
        harness.wait_until(lambda: stored(url, "shop")[1] * HZ // 10**9 >= wanted - 1, STORED_S)
        own, total = stored(url, "shop")
        other = stored(url, "warehouse")[1]
    count = round(total * HZ / 10**9)
    report.check("Pyroscope's server: as many samples as push says, by the name of the service",
                 "" if abs(count - wanted) <= 1 and count and not other else f"{count}, not {wanted}; {other} of another service",
                 f"{count} samples")
    report.check("Pyroscope's server: functions", "" if own.get("spin_leaf") and "spin_hot" in own else str(sorted(own)[:9]),
                 f"{len(own)} functions")
