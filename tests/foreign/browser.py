"""A headless Chromium, driven through its DevTools protocol over a pipe: no port is opened, and no name but
those of files can be reached from it."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 120
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
           "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9",
           "--hide-scrollbars", "--remote-debugging-pipe"]


class Unavailable(Exception):
    """There is no browser here."""


class Browser:
    """A context manager; its end kills what it started."""

    def __init__(self):
        program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise Unavailable("chromium is not there (apt install chromium)")
        self.folder = tempfile.mkdtemp(prefix="limpet-browser-")
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        # It reads from 3 and writes to 4.
        shell = 'orders=$1 answers=$2; shift 2; eval "exec \\"\\$@\\" 3<&$orders 4>&$answers"'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "browser", str(orders), str(answers), program, *OPTIONS,
             f"--user-data-dir={self.folder}"],
            pass_fds=(orders, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(orders)
        os.close(answers)
        self.number, self.rest, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for descriptor in (self.orders, self.answers):
            os.close(descriptor)
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _next(self, end):
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self.answers, 1 << 16)
            if not data:
                raise RuntimeError("the browser has ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        order = {"id": self.number, "method": method, "params": parameters}
        if session:
            order["sessionId"] = session
        os.write(self.orders, json.dumps(order).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while True:
            message = self._next(end)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def await_event(self, method, session):
        end = time.monotonic() + PATIENCE_S
        while True:
            for event in self.events:
                if event.get("method") == method and event.get("sessionId") == session:
                    self.events.remove(event)
                    return event
            self.events.append(self._next(end))


class Page:
    """One file, shown."""

    def __init__(self, browser, path, width=1280, height=720, dark=False):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        if dark:
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}")
        browser.await_event("Page.loadEventFired", self.session)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code,
                      windowsVirtualKeyCode={"Escape": 27, "/": 191}.get(key, 0))

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
        return path

    def complaints(self):
        """What the page threw, logged as an error, or asked for from elsewhere."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, parameters = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"]["text"])
            elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                found.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "about:")):
                found.append(parameters["request"]["url"])
        return found
