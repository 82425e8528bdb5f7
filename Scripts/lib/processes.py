"""Programs of this checkout as processes whose lines are read: for checks with real processes."""
import json
import pathlib
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

root = pathlib.Path(__file__).resolve().parent.parent.parent
# On a machine however slow and busy: only a failure lasts so long.
patience = 600
started = []


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def fail(what):
    sys.exit(f"!! {what}")


def programs():
    """The folder of the debug programs of this checkout, which are built where they are missing."""
    show = ["swift", "build", "--show-bin-path"]
    folder = subprocess.run(show, cwd=root, check=True, capture_output=True, text=True).stdout.strip()
    for product in ("ferryd", "ferry", "ferry-device"):
        if not (pathlib.Path(folder) / product).exists():
            subprocess.run(["swift", "build", "--product", product], cwd=root, check=True)
    return pathlib.Path(folder)


def get(url, method="GET"):
    request = urllib.request.Request(url, method=method, headers={"Accept": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


class Program:
    """A process whose lines are read as they come."""

    def __init__(self, words, folder, name, environment=None):
        self.name = name
        self.log = open(folder / f"{name}.log", "ab")
        self.process = subprocess.Popen(
            [str(word) for word in words], cwd=folder, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.log, text=True, bufsize=1)
        started.append(self)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.log.write(line.encode())
            self.log.flush()
            self.lines.put(line)
        self.lines.put(None)

    def line(self, wanted):
        """The first line for which `wanted` gives something."""
        deadline = time.monotonic() + patience
        while True:
            try:
                line = self.lines.get(timeout=max(0.1, deadline - time.monotonic()))
            except queue.Empty:
                fail(f"{self.name} did not say in {patience} s what was awaited")
            if line is None:
                fail(f"{self.name} ended with {self.process.wait()}; see its log")
            found = wanted(line)
            if found is not None:
                return found

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=patience)


class Device(Program):
    def ask(self, *words):
        self.process.stdin.write(json.dumps(list(words)) + "\n")
        self.process.stdin.flush()
        answer = self.line(self._answer)
        if not answer["ok"]:
            fail(f"{words[0]}: {answer.get('message')}")
        return answer

    @staticmethod
    def _answer(line):
        message = json.loads(line)
        return message if "ok" in message else None

    def until(self, what, wanted, *words):
        """Asks again until the answer is as it should be."""
        deadline = time.monotonic() + patience
        while True:
            answer = self.ask(*words)
            if wanted(answer):
                return answer
            if time.monotonic() > deadline:
                fail(f"{what}: {json.dumps(answer)}")
            time.sleep(0.1)
