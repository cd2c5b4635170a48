"""A headless Chromium, controlled with the DevTools protocol over a pair of pipes. Chromium reads
commands from its file descriptor 3 and writes answers and events to 4; each is a JSON text that
ends with a zero byte."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_SECONDS = 600  # only ends what hangs
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def find_program():
    """The path of a Chromium, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One tab. Errors that the page reports are collected in `errors`."""

    def __init__(self, width=1280, height=800, dark=False):
        program = find_program()
        if program is None:
            raise RuntimeError("no Chromium is installed; install Debian's package chromium")
        self.errors = []
        self._unread = b""
        self._next_id = 1
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = self._start(program)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.set_dark(dark)

    def _start(self, program):
        to_browser, self._output = os.pipe()
        self._input, from_browser = os.pipe()

        def connect():  # descriptors made by dup2 stay open in the new process
            read_end, write_end = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read_end, 3)
            os.dup2(write_end, 4)

        process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
             "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._session = None
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._input)
        os.close(self._output)
        self._profile.cleanup()

    # Commands

    def call(self, method, **parameters):
        """Sends a command and waits for its result."""
        command = {"id": self._next_id, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        self._next_id += 1
        os.write(self._output, json.dumps(command).encode() + b"\0")
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            message = self._read(end)
            if message.get("id") == command["id"]:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def _read(self, end):
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._input], [], [], max(0, end - time.monotonic()))
            data = os.read(self._input, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("Chromium does not respond")
            self._unread += data
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.errors.append(details.get("exception", {}).get("description", details["text"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.errors.append(parameters["entry"]["text"])
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.errors.append(str([argument.get("value") for argument in parameters["args"]]))
            case "Page.javascriptDialogOpening":
                self.errors.append("a dialog: " + parameters["message"])

    # The page

    def open(self, path, fragment=""):
        """Opens a file and waits until it is loaded and drawn. First closes an open page, so that a
        link within it loads the page again."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{fragment}")
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")
        self.wait_for_frame()

    def evaluate(self, expression):
        """The value of a JavaScript expression; waits for a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait_for(self, expression):
        end = time.monotonic() + PATIENCE_SECONDS
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"did not become true: {expression}")
            time.sleep(0.02)

    def wait_for_frame(self):
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def press(self, key, modifiers=0):
        """Presses a key, given by its JavaScript name; modifiers: 1 Alt, 2 Ctrl, 8 Shift."""
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def mouse(self, kind, x, y, **parameters):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **parameters)

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)

    def set_dark(self, dark):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path, kind="png", **parameters):
        data = self.call("Page.captureScreenshot", format=kind, **parameters)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
