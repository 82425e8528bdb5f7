#!/usr/bin/env python3
"""A proxy between a client and an HTTP service that fails on purpose, for tests.

  cutting-proxy.py <port> <port of the service> [--seed S] [--per-mille N]

At 127.0.0.1; prints "ready <port>" and serves until it is ended. N of 1,000 requests fail, and which of
them in what way the seed decides with the number of the request:

  away        the connection ends before the service has seen the request
  lost        it ends behind the request; the service has seen nothing
  cut         it ends inside the answer; the service has done it
  dropped     it ends before the answer; the service has done it
  late        it ends, and the service sees the request a moment later
  doubled     the service sees the request twice, and the second answer comes through
  slow        the answer comes, but late
  429, 502    the proxy answers; the service has seen nothing
  502 done    the proxy answers 502; the service has done it
  html        the proxy answers 200 with a page; the service has done it, or not

The connections of clients stay open. GET /-/counts gives the faults so far as JSON; POST /-/rate/N sets
how many of 1,000 requests fail; POST /-/quiet waits until no late request is under way.

Reads are only cut, slowed and answered; a create is never doubled, since two of them are two objects.
"""
import collections
import http.client
import json
import random
import socket
import socketserver
import sys
import threading
import time

READS = ("GET", "HEAD")
FAULTS = ["away", "lost", "cut", "dropped", "late", "doubled", "slow", "429", "502", "502 done",
          "html", "html done"]
READ_FAULTS = ["away", "cut", "slow", "429", "502", "html"]
PAGE = b"<!DOCTYPE html><html><body>The service is not available.</body></html>"


class State:
    def __init__(self, target, seed, rate):
        self.target, self.seed, self.rate = target, seed, rate
        self.lock = threading.Lock()
        self.number = 0
        self.requests = 0
        self.counts = collections.Counter()
        self.late = 0

    def fault(self, method):
        with self.lock:
            self.number += 1
            self.requests += 1
            chance = random.Random(self.seed * 1_000_003 + self.number)
            if chance.randrange(1000) >= self.rate:
                return None
            fault = chance.choice(READ_FAULTS if method in READS else FAULTS)
            if fault == "doubled" and method == "POST":
                fault = "dropped"
            self.counts[fault] += 1
            return fault

    def pass_on(self, method, path, headers, body):
        line = http.client.HTTPConnection("127.0.0.1", self.target, timeout=120)
        try:
            line.request(method, path, body=body, headers=headers)
            answer = line.getresponse()
            return answer.status, answer.reason, answer.getheaders(), answer.read()
        finally:
            line.close()

    def pass_on_late(self, *request):
        def run():
            time.sleep(0.5)
            try:
                self.pass_on(*request)
            except (OSError, http.client.HTTPException):
                pass
            with self.lock:
                self.late -= 1
        with self.lock:
            self.late += 1
        threading.Thread(target=run, daemon=True).start()


class Line(socketserver.StreamRequestHandler):
    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while self.one():
            pass

    def one(self):
        state = self.server.state
        first = self.rfile.readline(65536)
        if not first.strip():
            return False
        method, path, _ = first.decode("latin-1").split(" ", 2)
        headers, length = {}, 0
        while True:
            line = self.rfile.readline(65536).decode("latin-1").rstrip("\r\n")
            if not line:
                break
            name, _, value = line.partition(":")
            if name.lower() == "content-length":
                length = int(value)
            if name.lower() not in ("connection", "content-length", "accept-encoding"):
                headers[name] = value.strip()
        body = self.rfile.read(length) if length else None
        if path.startswith("/-/"):
            return self.control(state, path)
        fault = state.fault(method)
        if fault in ("away", "lost"):
            return False
        if fault == "late":
            state.pass_on_late(method, path, headers, body)
            return False
        if fault == "429":
            return self.answer(429, "Too Many Requests", [("Retry-After", "1")], b"")
        if fault == "502":
            return self.answer(502, "Bad Gateway", [("Content-Type", "text/html")], PAGE)
        if fault == "html":
            return self.answer(200, "OK", [("Content-Type", "text/html")], PAGE)
        try:
            if fault == "doubled":
                state.pass_on(method, path, headers, body)
            status, reason, fields, content = state.pass_on(method, path, headers, body)
        except (OSError, http.client.HTTPException):
            return self.answer(502, "Bad Gateway", [("Content-Type", "text/html")], PAGE)
        if fault == "dropped":
            return False
        if fault == "502 done":
            return self.answer(502, "Bad Gateway", [("Content-Type", "text/html")], PAGE)
        if fault == "html done":
            return self.answer(200, "OK", [("Content-Type", "text/html")], PAGE)
        if fault == "slow":
            time.sleep(0.3)
        return self.answer(status, reason, fields, content, is_cut=fault == "cut")

    def answer(self, status, reason, fields, content, is_cut=False):
        lines = ["HTTP/1.1 %d %s" % (status, reason)]
        for name, value in fields:
            if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "server"):
                lines.append("%s: %s" % (name, value))
        if status != 204:
            lines.append("Content-Length: %d" % len(content))
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if is_cut:
            whole = head + content
            self.wfile.write(whole[:max(1, len(whole) * 2 // 3)])
            return False
        self.wfile.write(head + content)
        return True

    def control(self, state, path):
        parts = path.split("/")
        if parts[2] == "rate":
            with state.lock:
                state.rate = int(parts[3])
        if parts[2] == "quiet":
            while True:
                with state.lock:
                    if state.late == 0:
                        break
                time.sleep(0.05)
        with state.lock:
            said = dict(state.counts, requests=state.requests)
        return self.answer(200, "OK", [("Content-Type", "application/json")], json.dumps(said).encode())


class Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


def main():
    words = sys.argv[3:]
    option = lambda name, default: int(words[words.index(name) + 1]) if name in words else default
    proxy = Proxy(("127.0.0.1", int(sys.argv[1])), Line)
    proxy.state = State(int(sys.argv[2]), option("--seed", 1), option("--per-mille", 0))
    print("ready", proxy.server_address[1], flush=True)
    proxy.serve_forever()


main()
