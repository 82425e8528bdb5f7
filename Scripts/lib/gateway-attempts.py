#!/usr/bin/env python3
"""Sixty attempts to reach another place through a gateway, or to hide a second request in the first.

  gateway-attempts.py --ca FILE --tally URL NAME=URL…

Each attempt goes through each way as raw bytes; whoever is silent for a second has said all. It may end in a
refusal of any kind. It must never lead to an answer of another place. A hidden request must never be
performed without an answer of its own; the tally of the service says how many were performed. Only what
every hop reads as two requests, by lenient rules of HTTP, may get two answers. Whoever logs in is anna.
"""
import base64
import socket
import ssl
import sys
import urllib.request
from urllib.parse import urlsplit

LOGIN = "Authorization: Basic " + base64.b64encode(b"anna:secret").decode() + "\r\n"
HIDDEN = "GET {p}/files/hidden HTTP/1.1\r\nHost: a\r\n" + LOGIN + "\r\n"


def get(target, fields="", version="HTTP/1.1"):
    return "GET %s %s\r\nHost: a\r\n%s%sConnection: close\r\n\r\n" % (target, version, LOGIN, fields)


def post(fields, body):
    return "POST {p}/files/up HTTP/1.1\r\nHost: a\r\n%s%s\r\n%s" % (LOGIN, fields, body)


# Other places.
PLACES = [get(target) for target in [
    "http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:22/", "https://other/files/x",
    "//169.254.169.254/files/x", "{p}//169.254.169.254/", "{p}/http://169.254.169.254/",
    "{p}/files/../../etc/passwd", "{p}/files/%2e%2e/%2e%2e/x", "{p}/files/%252e%252e/x",
    "{p}/files/..%2fx", "{p}/files/..%5cx", "{p}/files/..;/x", "{p}/files/.;/x",
    "{p}/files/%2e%2e%3b/x", "{p}/files/a%00b", "{p}/files/a%0d%0aX-Evil:%201",
    "{p}/files\\..\\x", "{p}/files@169.254.169.254/", "{p}/files:80@evil/", "{p}/fi%6ces/x",
    "{p}/FILES/x", "{p}/hotels/x", "{p}/.files/x", "{p}/%66iles/x", "{p}/files%2fx",
    "{p}/files/%c0%ae%c0%ae/x", "{p}/?url=http://169.254.169.254/", "*", "files/x",
]] + [
    get("{p}/files/x", "X-SUP-BACKEND-URL: http://169.254.169.254/\r\n"),
    get("{p}/files/x", "X-SUP-BACKEND-URL: http://127.0.0.1:22/files/\r\n"),
    "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: a\r\n" + LOGIN + "\r\n",
    "TRACE {p}/files/x HTTP/1.1\r\nHost: a\r\n" + LOGIN + "Connection: close\r\n\r\n",
]

# A second request.
SMUGGLED = [
    post("Content-Length: 4\r\nContent-Length: 0\r\n", "abcd" + HIDDEN),
    post("Content-Length: 0\r\nContent-Length: 4\r\n", "abcd" + HIDDEN),
    post("Content-Length: 4, 0\r\n", "abcd" + HIDDEN),
    post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + HIDDEN),
    post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n" + HIDDEN),
    post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n" + HIDDEN),
    post("Transfer-Encoding: identity\r\nContent-Length: 0\r\n", HIDDEN),
    post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n" + HIDDEN),
    post("Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n", HIDDEN),
    post("Transfer-Encoding:\x0bchunked\r\nContent-Length: 0\r\n", HIDDEN),
    post("Transfer-Encoding : chunked\r\nContent-Length: 0\r\n", HIDDEN),
    post("Content-Length : 0\r\n", HIDDEN),
    post("Content-Length: +0\r\n", HIDDEN),
    post("Content-Length: 0x0\r\n", HIDDEN),
    post("Content-Length: -1\r\n", HIDDEN),
    post("X: y\rContent-Length: 0\r\n", HIDDEN),
    post("Content-Length: 99999999999999999999\r\n", HIDDEN),
    post("Transfer-Encoding: chunked\r\n", "zz\r\n" + HIDDEN),
    post("Transfer-Encoding: chunked\r\n", "ffffffffffffffff0\r\n" + HIDDEN),
    post("Transfer-Encoding: chunked\r\n", "-1\r\n" + HIDDEN),
    get("{p}/files/x", "X: a\0b\r\n"),
    get("{p}/files/x", "X Y: 1\r\n"),
    get("{p}/files/x", "Host: b\r\n"),
    get("{p}/files/x", "X: " + "a" * 200000 + "\r\n"),
    get("{p}/files/x", "", "HTTP/9.9"),
]


# Folded lines, and lines that end with LF: a proxy may read them, and then writes them as others do.
LENIENT = [
    post(" Content-Length: 0\r\n", HIDDEN),
    post("X: y\r\n Content-Length: 0\r\n", HIDDEN),
    post("X: y\nContent-Length: 0\n", HIDDEN),
    post("X: y\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + HIDDEN),
]

# The PROXY protocol from a client, and TLS where none is spoken.
BEGINNINGS = [
    "PROXY TCP4 10.9.9.9 10.0.0.1 1 2\r\n" + get("{p}/files/x"),
    "\r\n\r\n\0\r\nQUIT\n!\x11\0\x0c\x0a\x09\x09\x09\x0a\0\0\x01\0\x01\0\x02" + get("{p}/files/x"),
]


def send(url, context, text, seconds):
    """What comes back until the other end closes, or says nothing for so long."""
    parts = urlsplit(url)
    raw = socket.create_connection((parts.hostname, parts.port), timeout=120)
    with raw:
        if parts.scheme == "https":
            raw = context.wrap_socket(raw, server_hostname=parts.hostname)
        found = b""
        try:
            raw.sendall(text.replace("{p}", parts.path).encode("latin-1"))
            raw.settimeout(seconds)
            while piece := raw.recv(65536):
                found += piece
                if seconds > 10 and b"hidden" in found:
                    break
        except (OSError, ssl.SSLError):
            pass
    return found.decode("latin-1")


def main(words):
    context = ssl.create_default_context(cafile=words[words.index("--ca") + 1])
    tally = words[words.index("--tally") + 1]

    def performed():
        with urllib.request.urlopen(tally) as answer:
            return int(answer.read())

    faults = count = 0
    attempts = ([(0, a) for a in PLACES + BEGINNINGS] + [(0, a) for a in SMUGGLED]
                + [(1, a) for a in LENIENT])
    for way in [word for word in words if "=" in word]:
        name, url = way.split("=", 1)
        # Two honest requests show that both answers would be seen.
        first = "GET {p}/files/x HTTP/1.1\r\nHost: a\r\n" + LOGIN + "\r\n"
        before = performed()
        honest = send(url, context, first + HIDDEN, 120)
        if honest.count('"method":') != 2 or "hidden" not in honest or performed() != before + 1:
            faults += 1
            print("%s: two honest requests were answered with %r" % (name, honest[:600]))
        for allowed, attempt in attempts:
            count += 1
            before = performed()
            answer = send(url, context, attempt, 1)
            hidden = answer.count("/files/hidden")
            # Words of other places, and of a client that it chose itself.
            reached = "root:x:" in answer or "10.9.9.9" in answer or "/files/hidden" in attempt and (
                hidden > allowed or performed() - before > hidden)
            # A request that was cleaned on its way is one request: its answer may come, once.
            if attempt in PLACES + BEGINNINGS:
                reached = reached or '"method":' in answer
            elif answer.count('"method":') > 1 + allowed:
                reached = True
            if reached:
                faults += 1
                print("%s: %r\n  led to: %r" % (name, attempt[:300], answer[:600]))
    print("%d attempts, %d led somewhere" % (count, faults))
    return 1 if faults else 0


sys.exit(main(sys.argv[1:]))
