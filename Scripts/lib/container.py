"""Reads Packaging/Containerfile, looks at its form, and runs its commands on a Debian in a folder."""
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

KNOWN = {"FROM", "COPY", "RUN", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK",
         "ENTRYPOINT"}
WAIT_SECONDS = 300
# As in Packaging/ferryd.service.
STOP_SECONDS = 30


def fail(text):
    sys.exit(f"!! {text}")


def instructions(text):
    """Each instruction with its words, lines that go on joined."""
    found, open_line = [], ""
    for line in text.splitlines():
        if line.lstrip().startswith("#") or not (line.strip() or open_line):
            continue
        open_line += line.rstrip()
        if open_line.endswith("\\"):
            open_line = open_line[:-1] + " "
            continue
        name, _, rest = open_line.strip().partition(" ")
        found.append((name, " ".join(rest.split())))
        open_line = ""
    if open_line:
        fail("the last line goes on, and nothing follows")
    return found


def words_of(name, text):
    """The words of an instruction in the form that starts a program without a shell."""
    try:
        words = json.loads(text)
    except ValueError:
        fail(f"{name} is no JSON list, so a shell would be between the engine and ferryd: {text}")
    if not words or not all(isinstance(word, str) for word in words):
        fail(f"{name} is no list of texts: {text}")
    return words


def packed(root):
    """The programs that Scripts/release puts into the package, and the name of its file."""
    text = (root / "Scripts/release").read_text()
    programs = {"/" + path for path in re.findall(r"^put 755 \S+ (\S+)$", text, re.MULTILINE)}
    name = re.search(r'^package="(.*)"$', text, re.MULTILINE)[1]
    return programs, "dist/" + re.sub(r"\$\{?\w+\}?", "x", name)


def form(root):
    lines = instructions((root / "Packaging/Containerfile").read_text())
    for name, _ in lines:
        if name not in KNOWN:
            fail(f"{name} is not known here; known are {', '.join(sorted(KNOWN))}")
    for name in ("FROM", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK",
                 "ENTRYPOINT"):
        if [own for own, _ in lines].count(name) != 1:
            fail(f"there must be one {name}")
    if lines[0][0] != "FROM":
        fail("the first instruction must be FROM")
    facts = dict(lines)
    if not re.fullmatch(r"docker\.io/library/debian:12(-slim)?", facts["FROM"]):
        fail(f"the package is for Debian 12, and the image begins with {facts['FROM']}")
    programs, package = packed(root)
    source, target = facts["COPY"].split()
    if not fnmatch.fnmatch(package, source):
        fail(f"COPY takes {source}, and Scripts/release makes {package}")
    if target not in facts["RUN"].split() or f"rm -rf {target}" not in facts["RUN"]:
        fail(f"RUN must install {target}, and remove it")
    user = re.fullmatch(r"(\d+):(\d+)", facts["USER"])
    if not user or "0" in user.groups():
        fail(f"USER must be the numbers of a user that is not root: {facts['USER']}")
    order = [name for name, _ in lines]
    if order.index("USER") < order.index("RUN"):
        fail("USER comes before RUN, which needs root")
    start = words_of("ENTRYPOINT", facts["ENTRYPOINT"])
    health = words_of("HEALTHCHECK", facts["HEALTHCHECK"].partition("CMD ")[2])
    for words in (start, health):
        if words[0] not in programs:
            fail(f"{words[0]} is not in the package, which has {', '.join(sorted(programs))}")
    options = re.findall(
        r'CommandOption\(\s*"([a-z-]+)"',
        "".join(path.read_text() for path in (root / "Sources/Tools/Programs/Ferryd").glob("*.swift")))
    for word in start[1:]:
        if word.startswith("--") and word[2:] not in options:
            fail(f"ferryd has no option {word}")
    port = (root / "Packaging/ferryd.conf").read_text()
    if f"#port = {facts['EXPOSE']}\n" not in port:
        fail(f"EXPOSE says {facts['EXPOSE']}, and Packaging/ferryd.conf another port")
    if facts["VOLUME"] not in health or f"data = {facts['VOLUME']}\n" not in port:
        fail(f"the data folder is not {facts['VOLUME']} everywhere")
    return facts, start, health, (int(user[1]), int(user[2]))


class Machine:
    """A Debian in a folder. Commands run in it by chroot."""

    def __init__(self, folder):
        self.path = folder / "machine"
        kept = os.environ.get("FERRY_DEBIAN")
        empty = pathlib.Path(kept or folder / "empty")
        if not (empty / "usr").is_dir():
            subprocess.run(
                ["debootstrap", "--variant=minbase", "--include=adduser,ca-certificates,sqlite3",
                 "bookworm", empty, "http://deb.debian.org/debian"],
                check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cp", "-a", empty, self.path], check=True)
        shutil.copy("/etc/resolv.conf", self.path / "etc/resolv.conf")

    def command(self, words, user=(0, 0)):
        script = (
            'mount -t proc proc "$0/proc" && root="$0" who="$1" && shift && exec chroot '
            '--userspec="$who" "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin '
            'DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"')
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script,
                str(self.path), f"{user[0]}:{user[1]}", *words]

    def run(self, words, user=(0, 0), text=None):
        done = subprocess.run(
            self.command(words, user), input=text, capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"{' '.join(words)[:200]}: {done.stderr[-2000:]}{done.stdout[-2000:]}")
        return done.stdout


def serve(root, package, facts, start, health, user):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ferry-container."))
    server = None
    try:
        machine = Machine(folder)
        print("== a fresh Debian 12", flush=True)
        target = machine.path / facts["COPY"].split()[1].lstrip("/")
        shutil.copy(package, target)
        machine.run(["/bin/sh", "-c", facts["RUN"]])
        if target.exists():
            fail("the package is still in the image")
        print("== RUN", flush=True)
        data = facts["VOLUME"]
        owner = (machine.path / data.lstrip("/")).stat()
        if (owner.st_uid, owner.st_gid) != user:
            fail(f"{data} belongs to {owner.st_uid}:{owner.st_gid}, and ferryd runs as {user}")
        # What an operator mounts: a model, its business database, and a user.
        machine.run(["/usr/bin/sqlite3", f"{data}/orders.db",
                     "PRAGMA journal_mode = WAL; CREATE TABLE customer (id INTEGER PRIMARY KEY, "
                     "name TEXT NOT NULL); INSERT INTO customer (name) VALUES ('Anna');"], user)
        machine.run(["/usr/bin/ferry", "new", "--from", f"sqlite:{data}/orders.db", "--out",
                     f"{data}/orders.model.json"], user)
        machine.run(["/usr/bin/ferry", "user", "add", "--file", f"{data}/users.json", "--name", "anna",
                     "--password-stdin"], user, "correct horse battery\n")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(machine.path / "etc/ferry/ferryd.conf", "a", encoding="utf-8") as settings:
            settings.write(f"model = {data}/orders.model.json\nport = {port}\n")
        log = open(folder / "log", "w", encoding="utf-8")
        server = subprocess.Popen(machine.command(start, user), stdout=log, stderr=log)
        end = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                    if answer.status == 200:
                        break
            except OSError:
                pass
            if server.poll() is not None or time.monotonic() > end:
                fail(f"ferryd did not serve: {(folder / 'log').read_text()[-2000:]}")
            time.sleep(0.2)
        print("== ENTRYPOINT", flush=True)
        machine.run(health, user)
        print("== HEALTHCHECK", flush=True)
        # As the first process of its machine ferryd gets only the signals that it asks for.
        first = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        os.kill(int(first[0]), getattr(signal, facts["STOPSIGNAL"]))
        try:
            code = server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            fail(f"{facts['STOPSIGNAL']} did not end ferryd in {STOP_SECONDS} seconds")
        if code != 0:
            fail(f"after {facts['STOPSIGNAL']} the code is {code}: {(folder / 'log').read_text()[-2000:]}")
        print("== STOPSIGNAL", flush=True)
    finally:
        if server and server.poll() is None:
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    root = pathlib.Path(sys.argv[1])
    facts, start, health, user = form(root)
    print("== the form of Packaging/Containerfile")
    if len(sys.argv) > 2:
        serve(root, pathlib.Path(sys.argv[2]).resolve(), facts, start, health, user)


main()
