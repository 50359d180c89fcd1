"""OpenTelemetry's collector, built from Go's modules into the user's cache: takes what `limpet push` sends, and hands it on
to a store of ours, which decodes it."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys

from driving import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "push"))
import otlp  # noqa: E402
from store import Store  # noqa: E402

import gomodules  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
VERSION = "v0.160.0"
MODULES = [f"go.opentelemetry.io/collector/{name}@{VERSION}" for name in
           ("otelcol", "receiver/otlpreceiver", "exporter/otlphttpexporter", "service")]
HZ = 99  # as push samples when nothing is said
CONFIG = """receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{taking}"}}}}}}}}
exporters:
  otlphttp:
    endpoint: {url}
    sending_queue: {{enabled: false}}
    retry_on_failure: {{enabled: false}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{profiles: {{receivers: [otlp], exporters: [otlphttp]}}}}
"""


def install():
    """The program; what is there stays."""
    program, source = gomodules.folder("collector") / f"collector-{VERSION}", HERE / "collector.go"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    folder = gomodules.folder_make("collector")
    shutil.copy(source, folder / "main.go")
    gomodules.go(folder, "mod", "init", "limpet.test/collector")
    gomodules.go(folder, "get", *MODULES)
    gomodules.go(folder, "mod", "tidy")
    gomodules.go(folder, "build", "-o", program, ".")
    return program


def is_listening(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextlib.contextmanager
def running(program, store, folder):
    """Its address."""
    (port,) = gomodules.free_ports(1)
    config = folder / "collector.yaml"
    config.write_text(CONFIG.format(taking=port, url=store.url))
    with open(folder / "collector.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen([program, config, "--feature-gates=service.profilesSupport"], stdout=log, stderr=log)
    try:
        if not harness.wait_until(lambda: process.poll() is not None or is_listening(port), 60) or process.poll() is not None:
            raise RuntimeError("collector: " + (folder / "collector.log").read_text(errors="replace")[-300:])
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def check_pushed(report, program, folder, push):
    """push(url, store, options): pushes a program whose service is "shop"; what push says has arrived."""
    store = Store()
    try:
        with running(program, store, folder) as url:
            pushed = push(url, store, "--format", "otlp-v1development")
        profiles = [profile for _, body in store.requests for profile in otlp.Request(body, is_forwarded=True).profiles]
    finally:
        store.close()
    arrived = [profile for profile in profiles if profile.attributes.get("service.name") == "shop"]
    count = sum(value for profile in arrived for _, value in profile.samples) * HZ // 10**9
    functions = {name for profile in arrived for stack in profile.stacks for name in stack}
    report.check("OpenTelemetry's collector: as many samples as push says, by the name of the service",
                 "" if abs(count - pushed["samples"]) <= 1 and count else f"{count}, not {pushed['samples']}",
                 f"{count} samples in {len(arrived)} profiles")
    report.check("OpenTelemetry's collector: functions and their callers",
                 "" if any({"spin_leaf", "spin_hot"} <= set(stack) for profile in arrived for stack in profile.stacks)
                 else str(sorted(functions)[:9]), f"{len(functions)} functions")

