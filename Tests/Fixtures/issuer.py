#!/usr/bin/env python3
"""An OpenID issuer of the tests: discovery and keys over TLS, tokens with real signatures.

Its own code and OpenSSL's program make everything, nothing of Ferry's. It listens on 127.0.0.1, on a
port that the system chooses, writes its certificate to <folder>/issuer-ca.pem, and takes commands on
standard input, one JSON array a line, each answered with one line:

  ["address"]                    the issuer's name
  ["token", {claims}]            a token; iss, aud, iat and exp are there unless given; null leaves out
  ["rotate"]                     a new key signs from now on; the old one is listed too
  ["withdraw"]                   only the newest key is listed
  ["mode", "ok|hang|500|lie"]    how documents are answered
  ["requests"]                   how many documents were asked for
"""
import base64, http.server, json, os, ssl, subprocess, sys, threading, time

folder = sys.argv[1]
state = {"mode": "ok", "requests": 0, "keys": []}


def openssl(*words, data=None):
    return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True).stdout


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def make_key(kind):
    number = len(state["keys"]) + 1
    path = os.path.join(folder, f"issuer-{number}.pem")
    if kind == "RS256":
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", path)
        text = openssl("rsa", "-in", path, "-noout", "-modulus").decode().strip()
        modulus = bytes.fromhex(text.split("=")[1])
        public = {"kty": "RSA", "n": b64(modulus), "e": "AQAB"}
    else:
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
        der = openssl("pkey", "-in", path, "-pubout", "-outform", "DER")
        public = {"kty": "EC", "crv": "P-256", "x": b64(der[-64:-32]), "y": b64(der[-32:])}
    public.update({"kid": f"key-{number}", "use": "sig", "alg": kind})
    state["keys"].append({"path": path, "public": public, "kind": kind})


def sign(key, data):
    signature = openssl("dgst", "-sha256", "-sign", key["path"], data=data)
    if key["kind"] == "RS256":
        return signature
    place, plain = 2, b""
    for _ in range(2):
        count = signature[place + 1]
        plain += signature[place + 2:place + 2 + count].lstrip(b"\0").rjust(32, b"\0")
        place += 2 + count
    return plain


def token(claims):
    now = int(time.time())
    whole = {"iss": state["name"], "aud": "ferry", "iat": now, "exp": now + 300}
    whole.update(claims)
    whole = {name: value for name, value in whole.items() if value is not None}
    key = state["keys"][-1]
    head = {"alg": key["kind"], "typ": "JWT", "kid": key["public"]["kid"]}
    text = b64(json.dumps(head).encode()) + "." + b64(json.dumps(whole).encode())
    return text + "." + b64(sign(key, text.encode()))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        state["requests"] += 1
        if state["mode"] == "hang":
            time.sleep(60)
        if state["mode"] == "500":
            return self.send_error(500)
        if self.path == "/acme/.well-known/openid-configuration":
            name = "https://evil.example.com" if state["mode"] == "lie" else state["name"]
            self.give({"issuer": name, "jwks_uri": state["name"] + "/keys"})
        elif self.path == "/acme/keys":
            self.give({"keys": [key["public"] for key in state.get("listed") or state["keys"]]})
        else:
            self.send_error(404)

    def give(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def take(words):
    name = words[0]
    if name == "address":
        return state["name"]
    if name == "token":
        return token(words[1])
    if name == "rotate":
        make_key(words[1] if len(words) > 1 else "RS256")
    elif name == "withdraw":
        state["listed"] = state["keys"][-1:]
    elif name == "mode":
        state["mode"] = words[1]
    elif name == "requests":
        return str(state["requests"])
    return "ok"


def main():
    certificate = os.path.join(folder, "issuer-ca.pem")
    private = os.path.join(folder, "issuer-tls.pem")
    openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", private, "-out", certificate,
        "-days", "2", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    state["name"] = f"https://127.0.0.1:{server.server_address[1]}/acme"
    make_key("RS256")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for line in sys.stdin:
        print(json.dumps({"answer": take(json.loads(line))}), flush=True)


main()
