#!/usr/bin/env python3
"""Apple's and Google's push services as far as their documents say, over real HTTP/2.

  push-peer.py PORT CERTIFICATE KEY APNS-PUBLIC-KEY FCM-PUBLIC-KEY

Tokens are verified by PyJWT, HTTP/2 is that of hyper-h2. Each message is a line of JSON on standard
output. A device token decides what happens: `dead` in it ends the token, `busy` is busy once, `bye` gets
GOAWAY before its answer once.
"""
import json
import socket
import ssl
import sys
import threading
import time
import urllib.parse

import h2.config
import h2.connection
import h2.events
import jwt

port, certificate, key, apns_key, fcm_key = sys.argv[1:]
apns_key, fcm_key = open(apns_key).read(), open(fcm_key).read()
seen = set()
lock = threading.Lock()


def say(**words):
    with lock:
        print(json.dumps(words), flush=True)


def once(name):
    with lock:
        if name in seen:
            return False
        seen.add(name)
        return True


def apns(headers, path, body):
    token = headers.get("authorization", "").removeprefix("bearer ")
    try:
        claims = jwt.decode(token, apns_key, algorithms=["ES256"], options={"verify_aud": False})
        assert jwt.get_unverified_header(token)["kid"] == "KEY1" and claims["iss"] == "TEAM"
        assert abs(claims["iat"] - time.time()) < 3600
    except Exception as error:
        return 403, {"reason": "InvalidProviderToken", "why": str(error)}
    device = path.rsplit("/", 1)[1]
    if headers.get("apns-topic") != "com.example.flights":
        return 400, {"reason": "BadTopic"}
    if device.startswith("dead"):
        return 410, {"reason": "Unregistered", "timestamp": 1}
    if device.startswith("b0b0") and once(device):
        return 503, {"reason": "ServiceUnavailable"}
    say(service="apns", device=device, token=token, kind=headers.get("apns-push-type"),
        collapse=headers.get("apns-collapse-id"), body=json.loads(body))
    return 200, None


def access(body):
    form = urllib.parse.parse_qs(body.decode())
    try:
        claims = jwt.decode(
            form["assertion"][0], fcm_key, algorithms=["RS256"],
            audience=f"https://localhost:{port}/token")
        assert claims["iss"] == "ferry@example.com" and "firebase.messaging" in claims["scope"]
    except Exception as error:
        return 400, {"error": "invalid_grant", "error_description": str(error)}
    say(service="token")
    return 200, {"access_token": "ya29.good", "expires_in": 3600, "token_type": "Bearer"}


def fcm(headers, path, body):
    if headers.get("authorization") != "Bearer ya29.good":
        return 401, {"error": {"status": "UNAUTHENTICATED"}}
    message = json.loads(body)["message"]
    if message["token"].startswith("dead"):
        return 404, {"error": {"status": "NOT_FOUND", "details": [{"errorCode": "UNREGISTERED"}]}}
    say(service="fcm", path=path, body=message)
    return 200, {"name": "projects/x/messages/1"}


def answer(headers, path, body):
    if path.startswith("/3/device/"):
        return apns(headers, path, body)
    if path == "/token":
        return access(body)
    if path.startswith("/v1/projects/"):
        return fcm(headers, path, body)
    return 404, {"reason": "BadPath"}


def serve(connection):
    state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    state.initiate_connection()
    connection.sendall(state.data_to_send())
    requests = {}
    while data := connection.recv(65536):
        for event in state.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                fields = {str(n, "ascii") if isinstance(n, bytes) else n:
                          str(v, "utf-8") if isinstance(v, bytes) else v for n, v in event.headers}
                requests[event.stream_id] = (fields, bytearray())
            elif isinstance(event, h2.events.DataReceived):
                requests[event.stream_id][1].extend(event.data)
                state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                headers, body = requests.pop(event.stream_id)
                path = headers[":path"]
                if "b1e0" in path and once(path):
                    # As Apple's service does when it ends a connection in the middle.
                    state.close_connection(last_stream_id=0)
                    connection.sendall(state.data_to_send())
                    say(service="goaway")
                    return
                status, document = answer(headers, path, bytes(body))
                text = json.dumps(document).encode() if document is not None else b""
                fields = [(":status", str(status)), ("content-length", str(len(text)))]
                if status == 503:
                    fields.append(("retry-after", "1"))
                state.send_headers(event.stream_id, fields, end_stream=not text)
                if text:
                    state.send_data(event.stream_id, text, end_stream=True)
        connection.sendall(state.data_to_send())


def attend(raw, context):
    try:
        with context.wrap_socket(raw, server_side=True) as connection:
            serve(connection)
    except (OSError, ssl.SSLError):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["h2"])
with socket.create_server(("127.0.0.1", int(port))) as listener:
    while True:
        raw, _ = listener.accept()
        threading.Thread(target=attend, args=(raw, context), daemon=True).start()
