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

Users log in with authorization code and PKCE at /acme/authorize, which asks for no password and
sends them on at once, or by code at /acme/device. Codes and refresh tokens are good once.

  ["user", {claims}]             whose tokens logins give from now on
  ["page", "agree|deny"]         what the user does on the page
  ["device", "wait|slow|agree|deny|end"]  what becomes of codes for devices
  ["lives", seconds]             how long access tokens live from now on
  ["revoke"]                     no refresh token is good any more
  ["grants"]                     the grants that were asked for, in their order
"""
import base64, hashlib, http.server, json, os, secrets, ssl, subprocess, sys, threading, time
from urllib.parse import parse_qs, urlencode, urlsplit

folder = sys.argv[1]
state = {
    "mode": "ok", "requests": 0, "keys": [], "user": {"sub": "u-1"}, "page": "agree",
    "device": "wait", "lives": 300, "codes": {}, "refresh": {}, "grants": []}


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
            self.give({
                "issuer": name, "jwks_uri": state["name"] + "/keys",
                "authorization_endpoint": state["name"] + "/authorize",
                "token_endpoint": state["name"] + "/token",
                "device_authorization_endpoint": state["name"] + "/device",
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True})
        elif self.path.startswith("/acme/authorize?"):
            self.authorize(form(urlsplit(self.path).query))
        elif self.path == "/acme/keys":
            self.give({"keys": [key["public"] for key in state.get("listed") or state["keys"]]})
        else:
            self.send_error(404)

    def do_POST(self):
        fields = form(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if state["mode"] == "hang":
            time.sleep(60)
        if state["mode"] == "500":
            return self.send_error(500)
        if self.path == "/acme/device":
            state["device_code"] = secrets.token_urlsafe(16)
            state["interval"] = 1
            return self.give({
                "device_code": state["device_code"], "user_code": "WDJB-MJHT",
                "verification_uri": state["name"] + "/activate", "expires_in": 60, "interval": 1})
        if self.path != "/acme/token":
            return self.send_error(404)
        kind = fields.get("grant_type", "")
        state["grants"].append(kind.split(":")[-1])
        if kind == "authorization_code":
            known = state["codes"].pop(fields.get("code"), None)
            digest = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
            if known is None or known["challenge"] != b64(digest) or (
                    known["redirect"] != fields.get("redirect_uri")
                    or known["client"] != fields.get("client_id")):
                return self.refuse("invalid_grant")
            return self.grant(known)
        if kind == "refresh_token":
            known = state["refresh"].pop(fields.get("refresh_token"), None)
            if known is None or known["client"] != fields.get("client_id"):
                return self.refuse("invalid_grant")
            return self.grant(dict(known, nonce=None))
        if kind == "urn:ietf:params:oauth:grant-type:device_code":
            if fields.get("device_code") != state.get("device_code"):
                return self.refuse("invalid_grant")
            way = state["device"]
            if way == "slow":
                state["device"] = "agree"
                return self.refuse("slow_down")
            if way == "agree":
                return self.grant({"client": fields["client_id"], "nonce": None})
            return self.refuse({
                "wait": "authorization_pending", "deny": "access_denied", "end": "expired_token"}[way])
        self.refuse("unsupported_grant_type")

    def authorize(self, fields):
        answer = {"state": fields["state"], "iss": state["name"]}
        if state["page"] == "deny":
            answer.update({"error": "access_denied", "error_description": "not today"})
        else:
            code = answer["code"] = secrets.token_urlsafe(16)
            assert fields["code_challenge_method"] == "S256" and fields["response_type"] == "code"
            state["codes"][code] = {
                "challenge": fields["code_challenge"], "redirect": fields["redirect_uri"],
                "client": fields["client_id"], "nonce": fields.get("nonce")}
        self.send_response(302)
        self.send_header("Location", fields["redirect_uri"] + "?" + urlencode(answer))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def grant(self, known):
        refresh = secrets.token_urlsafe(16)
        state["refresh"][refresh] = known
        end = int(time.time()) + state["lives"]
        own = {"aud": known["client"], "exp": end, "nonce": known["nonce"]}
        self.give({
            "access_token": token(dict(state["user"], exp=end)), "token_type": "Bearer",
            "expires_in": state["lives"], "refresh_token": refresh,
            "id_token": token(dict(state["user"], **own))})

    def refuse(self, error):
        self.give({"error": error, "error_description": "the test's issuer says so"}, 400)

    def give(self, document, status=200):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def form(text):
    return {name: values[0] for name, values in parse_qs(text).items()}


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
    elif name == "grants":
        return " ".join(state["grants"])
    elif name == "revoke":
        state["refresh"] = {}
    elif name in ("user", "page", "device", "lives"):
        state[name] = words[1]
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
