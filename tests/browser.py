"""A page in headless Chromium, driven through its DevTools pipe with the standard library alone."""

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 60  # for any one answer, on a busy machine


def find_browser():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def open_page(url, width=1280, height=900):
    """A `Page` that shows the URL; the browser ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process, reading, writing = _start(profile)
        try:
            yield Page(reading, writing, url, width, height)
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(reading)
            os.close(writing)


class Page:
    """One tab. `problems` lists what reached the console or was thrown, and `requests` what was
    asked for.
    """

    def __init__(self, reading, writing, url, width, height):
        self._reading, self._writing, self._rest, self._number, self._session = (
            reading,
            writing,
            b"",
            0,
            None,
        )
        self.problems, self.requests, self._loaded = [], [], False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)
        self._loaded = False
        self.send("Page.navigate", url=url)
        while not self._loaded:
            self._note(self._receive())

    def send(self, method, **parameters):
        """The result of one command; events that come before it are noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        content = json.dumps(message).encode() + b"\0"
        while content:
            content = content[os.write(self._writing, content) :]
        while (answer := self._receive()).get("id") != self._number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def run(self, script):
        """The value of a JavaScript expression."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def click(self, selector):
        """A real click in the middle of an element, scrolled into view."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{found}.scrollIntoView({{block: 'center'}})")
        box = self.run(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / "
            f"2])({found}.getBoundingClientRect())"
        )
        self.click_at(*box)

    def click_at(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key, code, text=None):
        parts = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.send(
            "Input.dispatchKeyEvent",
            type="keyDown",
            **parts,
            **({} if text is None else {"text": text}),
        )
        self.send("Input.dispatchKeyEvent", type="keyUp", **parts)

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def screenshot(self, path, whole=True):
        found = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(found["data"]))

    def _receive(self):
        end = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            if not select.select([self._reading], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"the browser said nothing for {SECONDS} seconds.")
            part = os.read(self._reading, 2**16)
            if not part:
                raise RuntimeError("the browser ended.")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        method, parameters = event.get("method"), event.get("params")
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.problems.append(parameters)
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True


def _start(profile):
    """The process, and our ends of its two pipes; it reads from 3 and writes to 4."""
    pipes = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (*os.pipe(), *os.pipe())]
    to_read, writing, reading, to_write = pipes
    quiet = os.open(os.devnull, os.O_RDWR)
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
    ]
    options += [
        "--disable-background-networking",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    ]
    actions = [(os.POSIX_SPAWN_DUP2, to_read, 3), (os.POSIX_SPAWN_DUP2, to_write, 4)]
    actions += [(os.POSIX_SPAWN_DUP2, quiet, number) for number in (0, 1, 2)]
    browser = find_browser()
    process = os.posix_spawn(
        browser, [browser, *options, "about:blank"], os.environ, file_actions=actions
    )
    for end in (to_read, to_write, quiet):
        os.close(end)
    return process, reading, writing
