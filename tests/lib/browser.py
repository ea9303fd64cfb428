# SPDX-License-Identifier: GPL-2.0-only
"""A page in Chromium without a screen, by the DevTools protocol over a pipe: messages of JSON, each of
which ends with a NUL."""
import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import time

import ltt

READ, WRITE = 3, 4  # descriptors that Chromium reads and writes
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


class Browser:
    """@messages: events of the protocol since open()."""

    def __init__(self):
        if not shutil.which("chromium"):
            ltt.skip("there is no chromium; install this package of Debian for this test")
        to, self.write = os.pipe()
        self.read, back = os.pipe()

        def place():
            low, high = os.dup2(to, 30), os.dup2(back, 31)
            os.dup2(low, READ)
            os.dup2(high, WRITE)
        # pylint: disable-next=consider-using-with, subprocess-popen-preexec-fn
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--hide-scrollbars", "--window-size=1400,1000", f"--user-data-dir={os.getcwd()}/browser", "about:blank"],
            pass_fds=(READ, WRITE), preexec_fn=place, start_new_session=True,
            stderr=subprocess.DEVNULL)
        os.close(to)
        os.close(back)
        self.buffer, self.number, self.messages, self.session = b"", 0, [], {}
        page = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"][0]
        self.session = {"sessionId": self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]}
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.read, 1 << 20)
            ltt.check(more, "chromium has ended")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        text = json.dumps({"id": self.number, "method": method, "params": params, **self.session})
        os.write(self.write, text.encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            self.messages.append(answer)
        ltt.check("error" not in answer, f"{method}: {answer}")
        return answer["result"]

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        ltt.check("exceptionDetails" not in answer, f"{expression}: {answer}")
        return answer["result"].get("value")

    def drawn(self):
        self.value(FRAMES)

    def load(self, path):
        self.messages.clear()
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}")
        while not [m for m in self.messages if m.get("method") == "Page.loadEventFired"]:
            self.messages.append(self.message())

    def open(self, path):
        """Until its script has drawn it."""
        self.load(path)
        deadline = time.monotonic() + 30
        while not self.value("!!document.documentElement.dataset.ready || !document.querySelector('#trouble').hidden"):
            ltt.check(time.monotonic() < deadline, "the page is not ready")
            time.sleep(0.05)
        self.drawn()

    def mouse(self, kind, at, **how):
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], **how)

    def drag(self, begin, end, modifiers=0):
        self.mouse("mousePressed", begin, button="left", clickCount=1, modifiers=modifiers)
        for at in begin, end:
            self.mouse("mouseMoved", at, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", end, button="left", clickCount=1, modifiers=modifiers)
        self.drawn()

    def type(self, *keys):
        for key in keys:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": key} if len(key) == 1 else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.drawn()

    def place(self, selector):
        return self.value(f"(r => [r.left, r.top, r.width, r.height])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)}).innerText")

    def save(self, path):
        """A picture of the window."""
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def faults(self):
        """Messages of the console, exceptions, and requests beside that of the page."""
        wanted = "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"
        requests = [m["params"]["request"]["url"] for m in self.messages if m.get("method") == "Network.requestWillBeSent"]
        return [m for m in self.messages if m.get("method") in wanted] + [r for r in requests[1:] if not r.startswith("data:")]
