#!/usr/bin/env python3
"""A login before a service without one: Scripts/check-connections.

  login-front.py <port> <address of the service>

It prints "ready <port>", lets in FERRY with the password of the environment variable FRONT_PASSWORD
(Basic) and users with a token that it gave (Bearer), and passes their requests on. POST /token gives a
token for the user whom a signed statement names (RFC 7523), where that user is known; and one for FERRY with
client credentials. POST /front/allow/<user> and /front/deny/<user> change who is known; GET /front/log
has a line for each change: who, method and path; GET /front/tokens counts tokens for FERRY. Behind POST
/front/hold a create is passed on and its answer kept back, until POST /front/release. These need no
login: only the check knows them.
"""
import base64
import http.client
import http.server
import json
import os
import socketserver
import sys
import threading
import urllib.parse

BACK = urllib.parse.urlsplit(sys.argv[2])
TECHNICAL = "Basic " + base64.b64encode(
    f"FERRY:{os.environ['FRONT_PASSWORD']}".encode()).decode()
# RFC 6749: the secret is percent-encoded before it is joined.
CLIENT = "Basic " + base64.b64encode(
    ("FERRY:" + urllib.parse.quote(os.environ["FRONT_PASSWORD"], safe="")).encode()).decode()
known, tokens, log, given = {"FERRY"}, {}, [], []
released = threading.Event()
released.set()
lock = threading.Lock()


def part(token, place):
    text = token.split(".")[place]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def who(self):
        given = self.headers.get("Authorization", "")
        if given == TECHNICAL:
            return "FERRY"
        with lock:
            user = tokens.get(given.removeprefix("Bearer "))
            return user if user in known else None

    def work(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/token":
            return self.token(urllib.parse.parse_qs(body.decode()))
        if self.path.startswith("/front/"):
            return self.front()
        user = self.who()
        if user is None:
            return self.answer(401, b"", [("WWW-Authenticate", "Bearer")])
        if self.command not in ("GET", "HEAD"):
            with lock:
                log.append(f"{user} {self.command} {self.path}")
        line = http.client.HTTPConnection(BACK.hostname, BACK.port, timeout=60)
        headers = {name: value for name, value in self.headers.items()
                   if name.lower() not in ("authorization", "connection", "host", "content-length",
                                           "accept-encoding")}
        # The service names itself in links: they must lead through the login.
        headers["Host"] = self.headers["Host"]
        line.request(self.command, self.path, body or None, headers)
        found = line.getresponse()
        content = found.read()
        if self.command == "POST":
            released.wait()
        keep = [(name, value) for name, value in found.getheaders()
                if name.lower() not in ("connection", "content-length", "transfer-encoding", "server",
                                        "date")]
        back, front = f"http://{BACK.netloc}/", f"http://{self.headers['Host']}/"
        keep = [(name, value.replace(back, front)) for name, value in keep]
        self.answer(found.status, content.replace(back.encode(), front.encode()), keep)

    def token(self, form):
        if form.get("grant_type") == ["client_credentials"]:
            if self.headers.get("Authorization") != CLIENT:
                return self.answer(401, b'{"error": "invalid_client"}')
            user = "FERRY"
            with lock:
                given.append(user)
        else:
            user = part(form.get("assertion", [""])[0], 1)["sub"]
        with lock:
            if user not in known:
                return self.answer(400, b'{"error": "invalid_grant"}')
            token = base64.urlsafe_b64encode(os.urandom(18)).decode()
            tokens[token] = user
        reply = {"access_token": token, "token_type": "Bearer", "expires_in": 600}
        self.answer(200, json.dumps(reply).encode())

    def front(self):
        words = self.path.split("/")
        with lock:
            if words[2] == "allow":
                known.add(words[3])
            elif words[2] == "deny":
                known.discard(words[3])
            elif words[2] == "hold":
                released.clear()
            elif words[2] == "release":
                released.set()
            text = str(len(given)) if words[2] == "tokens" else "\n".join(log)
        self.answer(200, text.encode())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_MERGE = do_HEAD = work


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", int(sys.argv[1])), Front)
print(f"ready {server.server_address[1]}", flush=True)
server.serve_forever()
