#!/usr/bin/env python3
"""A service of REST that counts what it is asked: Scripts/check-cache-groups.

  cache-business.py   at a free port of 127.0.0.1; prints "ready <port>" and serves until it is ended

It has 30 items and 2 shelves. GET /items and GET /shelves give all of them, and are counted. Those below
/test are for the check: /test/counts gives the counts, /test/set/<id>/<stock> is a change by somebody else,
/test/delay/<ms> makes each answer slow, /test/fail/<0 or 1> makes each answer a failure.
"""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.Lock()
items = {number: {"id": number, "name": "item %d" % number, "stock": 5} for number in range(1, 31)}
shelves = [{"id": number, "place": "aisle %d" % number} for number in (1, 2)]
counts = {"/items": 0, "/shelves": 0}
state = {"delay": 0.0, "fail": False}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path.startswith("/test/"):
            return self.test(path.split("/")[2:])
        with lock:
            counts[path] = counts.get(path, 0) + 1
            delay, fails = state["delay"], state["fail"]
        time.sleep(delay)
        if fails:
            return self.answer(503, {"detail": "The service is closed."})
        with lock:
            if path == "/items":
                return self.answer(200, list(items.values()))
            if path == "/shelves":
                return self.answer(200, shelves)
            parts = path.split("/")
            if len(parts) == 3 and parts[1] == "items" and int(parts[2]) in items:
                return self.answer(200, items[int(parts[2])])
        self.answer(404, {"detail": "Not found."})

    def test(self, words):
        with lock:
            if words[0] == "counts":
                return self.answer(200, dict(counts))
            if words[0] == "set":
                items[int(words[1])]["stock"] = int(words[2])
            elif words[0] == "delay":
                state["delay"] = int(words[1]) / 1000
            elif words[0] == "fail":
                state["fail"] = words[1] == "1"
        self.answer(200, {})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print("ready", server.server_address[1], flush=True)
server.serve_forever()
