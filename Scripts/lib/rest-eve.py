#!/usr/bin/env python3
"""A service of REST by Eve as a business system: Scripts/check-rest.

  rest-eve.py <port>   at 127.0.0.1, or at a free port for 0; prints "ready <port>" and serves until it is
                       ended

Eve stands on MongoDB; mongomock takes its place in memory. Eve is as it comes: pages of 25 with links in
the body, an ETag in each object (`_etag`), changes only with `If-Match`, dates as HTTP writes them.
"""
import socket
import sys
from datetime import datetime, timezone

import mongomock
from eve import Eve
from eve.io.mongo import flask_pymongo
from werkzeug.serving import make_server

flask_pymongo.MongoClient = mongomock.MongoClient

settings = {
    "DOMAIN": {
        "parts": {
            "item_title": "part",
            "id_field": "number",
            "item_lookup_field": "number",
            "item_url": "int",
            "schema": {
                "number": {"type": "integer", "required": True, "unique": True},
                "name": {"type": "string", "maxlength": 40},
                "stock": {"type": "integer", "min": 0},
                "counted": {"type": "datetime"},
                "place": {"type": "dict", "schema": {"aisle": {"type": "string"}}},
            },
        }
    },
    "MONGO_HOST": "localhost", "MONGO_PORT": 27017, "MONGO_DBNAME": "parts",
    "RESOURCE_METHODS": ["GET", "POST"], "ITEM_METHODS": ["GET", "PATCH", "PUT", "DELETE"],
    "RENDERERS": ["eve.render.JSONRenderer"],
}


def main():
    app = Eve(settings=settings)
    with app.app_context():
        with app.test_client() as client:
            for number in range(1, 31):
                answer = client.post("/parts", json={
                    "number": number, "name": "part %d" % number, "stock": 5,
                    "counted": "Fri, 27 Nov 2026 08:00:00 GMT", "place": {"aisle": "A%d" % (number % 3)}})
                if answer.status_code != 201:
                    sys.exit("the parts cannot be made: %s" % answer.get_data(as_text=True))
    listener = socket.socket()
    listener.bind(("127.0.0.1", int(sys.argv[1])))
    listener.listen(64)
    port = listener.getsockname()[1]
    server = make_server("127.0.0.1", port, app, threaded=False, fd=listener.fileno())
    print("ready", port, flush=True)
    server.log = lambda *words: None
    server.serve_forever()


main()
