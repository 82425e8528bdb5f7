#!/usr/bin/env python3
"""A service behind the gateway, for Scripts/check-gateway.

  gateway-backend.py PORT

Takes uploads in chunks or by their length and answers how many bytes came, and their SHA-256; tells the
fields of each request; gives a body of as many bytes as /large/N names; redirects; sets a cookie; is the
login of a network's edge.
"""
import hashlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


# Requests that somebody has hidden in another one.
hidden = []


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def pieces(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                if size == 0:
                    while self.rfile.readline().strip():
                        pass
                    return
                while size:
                    piece = self.rfile.read(min(size, 65536))
                    if not piece:
                        raise ConnectionError("the body was cut")
                    size -= len(piece)
                    yield piece
                self.rfile.readline()
        left = int(self.headers.get("Content-Length") or 0)
        while left:
            piece = self.rfile.read(min(left, 65536))
            if not piece:
                raise ConnectionError("the body was cut")
            left -= len(piece)
            yield piece

    def give(self, status, body, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def serve(self):
        digest, count = hashlib.sha256(), 0
        for piece in self.pieces():
            digest.update(piece)
            count += len(piece)
        path = self.path.split("?")[0]
        if path == "/files/hidden":
            hidden.append(path)
        root = "http://127.0.0.1:%d/files/" % self.server.server_port
        if path.startswith("/files/large/"):
            self.send_response(200)
            left = int(path.split("/")[-1])
            self.send_header("Content-Length", str(left))
            self.end_headers()
            while left:
                piece = b"0123456789abcdef" * min(4096, (left + 15) // 16)
                self.wfile.write(piece[:left])
                left -= min(left, len(piece))
        elif path == "/files/tally":
            self.give(200, str(len(hidden)).encode())
        elif path.startswith("/files/siteminder"):
            # A login of the network's edge: its own user, then a cookie.
            if "SMSESSION=good" in (self.headers.get("Cookie") or ""):
                self.give(204, b"")
            elif self.headers.get("Authorization") == "Basic ZWRnZTplZGdl":
                self.give(204, b"", Set_Cookie="SMSESSION=good; Path=/; Secure; HttpOnly")
            else:
                self.give(401, b"", WWW_Authenticate='Basic realm="SiteMinder"')
        elif path == "/files/away":
            self.give(302, b"", Location="http://169.254.169.254/latest/")
        elif path == "/files/moved":
            self.give(302, b"", Location=root + "here")
        elif path == "/files/cookie":
            self.give(200, b"{}", Set_Cookie="sid=secret; Path=/files", Content_Type="text/plain")
        else:
            fields = [[name, value] for name, value in self.headers.items()]
            body = {"bytes": count, "sha256": digest.hexdigest(), "fields": fields,
                    "method": self.command, "path": self.path, "self": root + "me"}
            self.give(200, json.dumps(body).encode(), Content_Type="application/json")

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_MERGE = serve


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
