"""Headless Chromium driven over its DevTools protocol, with nothing but the standard library."""
import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import time
import urllib.request

patience = 600


class Socket:
    """A client of one WebSocket (RFC 6455), enough for the protocol of a browser on this machine."""

    def __init__(self, host, port, path):
        self.line = socket.create_connection((host, port), timeout=patience)
        key = base64.b64encode(os.urandom(16)).decode()
        self.line.sendall((
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self._receive()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        assert b" 101 " in head.split(b"\r\n")[0], head

    def _receive(self):
        bytes = self.line.recv(1 << 16)
        if not bytes:
            raise EOFError("the browser closed the line")
        return bytes

    def _take(self, count):
        while len(self.rest) < count:
            self.rest += self._receive()
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        head = bytes([0x81])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(data))
        self.line.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def message(self):
        whole = b""
        while True:
            first, second = self._take(2)
            count = second & 0x7F
            if count == 126:
                count = struct.unpack(">H", self._take(2))[0]
            elif count == 127:
                count = struct.unpack(">Q", self._take(8))[0]
            data = self._take(count)
            if first & 0x0F == 8:
                raise EOFError("the browser closed the line")
            if first & 0x0F in (9, 10):
                continue
            whole += data
            if first & 0x80:
                return whole.decode()


class Browser:
    """One page of a browser of its own."""

    @staticmethod
    def program():
        """Chromium, installed if it is missing: only checks on demand need it, and it is large."""
        for _ in range(2):
            found = next(filter(None, map(shutil.which, ["chromium", "chromium-browser"])), None)
            if found:
                return found
            subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"])
        raise SystemExit("There is no chromium. To install it, run: sudo apt-get install -y chromium")

    def __init__(self, folder, width=1280, height=900):
        program = Browser.program()
        profile = pathlib.Path(folder) / "profile"
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--lang=en",
             "--remote-debugging-port=0", f"--user-data-dir={profile}",
             f"--window-size={width},{height}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=open(pathlib.Path(folder) / "chromium.log", "ab"))
        port = self._until(lambda: self._port(profile), "the browser did not start")
        self.port = port
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=60))
        path = next(p for p in pages if p["type"] == "page")["webSocketDebuggerUrl"].split(str(port), 1)[1]
        self.socket, self.number, self.events = Socket("127.0.0.1", port, path), 0, []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    @staticmethod
    def _port(profile):
        try:
            return int((profile / "DevToolsActivePort").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    @staticmethod
    def _until(wanted, complaint):
        deadline = time.monotonic() + patience
        while True:
            found = wanted()
            if found:
                return found
            assert time.monotonic() < deadline, complaint
            time.sleep(0.05)

    def ask(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.message())
            if message.get("id") == self.number:
                assert "error" not in message, f"{method}: {message.get('error')}"
                return message["result"]
            self.events.append(message)

    def run(self, script):
        result = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{script}: {result.get('exceptionDetails')}"
        return result["result"].get("value")

    def open(self, address):
        self.ask("Page.navigate", url=address)
        self.loaded()

    def loaded(self):
        self._until(self._is_ready, "the page was not loaded")

    def _is_ready(self):
        try:
            return self.run("document.readyState") == "complete" and self.run("location.href") != "about:blank"
        except AssertionError:
            return False

    def until(self, script, complaint):
        """Waits until a script gives something true, also over pages that are loaded meanwhile."""
        def look():
            try:
                return self.run(script)
            except AssertionError:
                return None
        return self._until(look, f"{complaint}: {self.text()[:2000]}")

    def text(self):
        return self.run("document.body ? document.body.innerText : ''") or ""

    def focus(self, selector):
        assert self.run(f"(e => e ? (e.focus(), true) : false)(document.querySelector({json.dumps(selector)}))"), \
            f"there is no {selector} on {self.run('location.href')}: {self.text()[:1500]}"

    def type(self, selector, text):
        """As a keyboard does."""
        self.focus(selector)
        self.ask("Input.insertText", text=text)

    def key(self, name, code, modifiers=0):
        text = {"Enter": "\r", "Space": " "}.get(name)
        key = " " if name == "Space" else name
        extra = {"text": text} if text else {}
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, code=name, windowsVirtualKeyCode=code,
                modifiers=modifiers, **(extra if kind == "keyDown" else {}))

    def click(self, selector):
        """With the mouse, in the middle of the element."""
        box = self.run(
            "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })"
            f"(document.querySelector({json.dumps(selector)}))")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask(
                "Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def go(self, selector):
        """Clicks what leads to another page, and waits for that."""
        self.run("window.leaving = true")
        self.click(selector)
        self._until(
            lambda: self._is_ready() and self.run("window.leaving !== true"), "no page came")

    def size(self, width, height, dark=False, script=True):
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False)
        self.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)

    def picture(self, path):
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def problems(self):
        """What the browser complained of: refused scripts and styles, errors of scripts."""
        self.run("1")
        found = []
        for event in self.events:
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"]["text"])
            if event["method"] == "Page.javascriptDialogOpening":
                found.append("a script asked: " + event["params"]["message"])
        return found

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=patience)
