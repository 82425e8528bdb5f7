#!/usr/bin/env python3
"""A service of REST by FastAPI over SQLite as a business system: Scripts/check-rest.

  rest-business.py <port> <database>   at 127.0.0.1, or at a free port for 0; prints "ready <port>" and
                                       serves until it is ended

The objects are shelves and items; an item is on a shelf. A change needs the ETag of the item
(`If-Match`), and each change makes another one. GET /log tells each change that was done, one a line.
POST /others/<id>/<stock> is a change by somebody else. POST /forget forgets the numbers of requests. A stock below zero is refused by a rule.
"""
import hashlib
import socket
import sqlite3
import sys
import threading
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Query, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

lock = threading.Lock()
app = FastAPI(title="Store", version="1.0")
log = []


class Shelf(BaseModel):
    id: int
    place: str = Field(max_length=40)


class Item(BaseModel):
    id: int
    name: str = Field(max_length=100, description="What people call it")
    stock: int
    price: float | None = None
    shelf_id: int | None = None
    changed_at: str | None = Field(None, json_schema_extra={"format": "date-time", "readOnly": True})


class ItemIn(BaseModel):
    name: str = Field(max_length=100)
    stock: int = 0
    price: float | None = None
    shelf_id: int | None = None


class ItemPatch(BaseModel):
    name: str | None = Field(None, max_length=100)
    stock: int | None = None
    price: float | None = None
    shelf_id: int | None = None


class ItemPage(BaseModel):
    items: list[Item]
    total: int


class Problem(BaseModel):
    detail: str


def open_database(path):
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.executescript("""
        CREATE TABLE IF NOT EXISTS shelf (id INTEGER PRIMARY KEY, place TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS item (
          id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, stock INTEGER NOT NULL, price REAL,
          shelf_id INTEGER REFERENCES shelf, rev INTEGER NOT NULL DEFAULT 1,
          changed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ')));
        CREATE TABLE IF NOT EXISTS answered (number TEXT PRIMARY KEY, body TEXT NOT NULL, id INTEGER NOT NULL);
    """)
    if not connection.execute("SELECT 1 FROM shelf").fetchone():
        connection.executemany("INSERT INTO shelf VALUES (?, ?)",
                               [(number, "aisle %d" % number) for number in (1, 2)])
        connection.executemany("INSERT INTO item (name, stock, price, shelf_id) VALUES (?, 5, 1.5, ?)",
                               [("item %d" % number, number % 2 + 1) for number in range(1, 26)])
        connection.commit()
    return connection


database = None


def item(key):
    row = database.execute("SELECT * FROM item WHERE id = ?", (key,)).fetchone()
    if row is None:
        raise HTTPException(404, "There is no item %d." % key)
    return row


def shown(row):
    return Item(**{name: row[name] for name in ("id", "name", "stock", "price", "shelf_id", "changed_at")})


def etag(row):
    return '"%d-%d"' % (row["id"], row["rev"])


def require(row, wanted):
    if wanted is None:
        raise HTTPException(428, "A change needs If-Match.")
    if wanted != etag(row):
        raise HTTPException(412, "The item was changed meanwhile.")


def check(stock):
    if stock is not None and stock < 0:
        raise HTTPException(422, "The shelf cannot hold fewer than none.")


@app.get("/shelves")
def list_shelves() -> list[Shelf]:
    return [Shelf(**dict(row)) for row in database.execute("SELECT * FROM shelf ORDER BY id")]


@app.get("/shelves/{shelf_id}")
def read_shelf(shelf_id: int) -> Shelf:
    row = database.execute("SELECT * FROM shelf WHERE id = ?", (shelf_id,)).fetchone()
    if row is None:
        raise HTTPException(404, "There is no shelf %d." % shelf_id)
    return Shelf(**dict(row))


@app.get("/items")
def list_items(offset: int = 0, limit: Annotated[int, Query(le=10)] = 10) -> ItemPage:
    with lock:
        rows = database.execute("SELECT * FROM item ORDER BY id LIMIT ? OFFSET ?", (limit, offset)).fetchall()
        total = database.execute("SELECT count(*) FROM item").fetchone()[0]
    return ItemPage(items=[shown(row) for row in rows], total=total)


@app.get("/items/{item_id}")
def read_item(item_id: int, response: Response) -> Item:
    with lock:
        row = item(item_id)
    response.headers["ETag"] = etag(row)
    return shown(row)


@app.post("/items", status_code=201)
def create_item(given: ItemIn, response: Response,
                idempotency_key: Annotated[str | None, Header()] = None) -> Item:
    body = hashlib.sha256(given.model_dump_json().encode()).hexdigest()
    with lock:
        if idempotency_key:
            known = database.execute("SELECT * FROM answered WHERE number = ?", (idempotency_key,)).fetchone()
            if known and known["body"] != body:
                raise HTTPException(422, "This Idempotency-Key belongs to another request.")
            if known:
                return shown(item(known["id"]))
        check(given.stock)
        made = database.execute("INSERT INTO item (name, stock, price, shelf_id) VALUES (?, ?, ?, ?)",
                                (given.name, given.stock, given.price, given.shelf_id)).lastrowid
        if idempotency_key:
            database.execute("INSERT INTO answered VALUES (?, ?, ?)", (idempotency_key, body, made))
        database.commit()
        log.append("POST %d" % made)
        row = item(made)
    response.headers["ETag"] = etag(row)
    response.headers["Location"] = "/items/%d" % made
    return shown(row)


@app.patch("/items/{item_id}", responses={412: {"model": Problem}, 422: {"model": Problem}})
def change_item(item_id: int, given: ItemPatch, response: Response,
                if_match: Annotated[str | None, Header()] = None) -> Item:
    with lock:
        row = item(item_id)
        require(row, if_match)
        changes = given.model_dump(exclude_unset=True)
        check(changes.get("stock"))
        for name, value in changes.items():
            database.execute("UPDATE item SET %s = ? WHERE id = ?" % name, (value, item_id))
        database.execute("UPDATE item SET rev = rev + 1 WHERE id = ?", (item_id,))
        database.commit()
        log.append("PATCH %d" % item_id)
        row = item(item_id)
    response.headers["ETag"] = etag(row)
    return shown(row)


@app.delete("/items/{item_id}", status_code=204)
def delete_item(item_id: int, if_match: Annotated[str | None, Header()] = None):
    with lock:
        require(item(item_id), if_match)
        database.execute("DELETE FROM item WHERE id = ?", (item_id,))
        database.commit()
        log.append("DELETE %d" % item_id)


@app.post("/forget", include_in_schema=False)
def forget():
    """The numbers of requests are known no more."""
    with lock:
        database.execute("DELETE FROM answered")
        database.commit()
    return PlainTextResponse("done")


@app.get("/log", include_in_schema=False)
def read_log():
    return PlainTextResponse("\n".join(log))


@app.post("/others/{item_id}/{stock}", include_in_schema=False)
def others(item_id: int, stock: int):
    with lock:
        database.execute("UPDATE item SET stock = ?, rev = rev + 1 WHERE id = ?", (stock, item_id))
        database.commit()
    return PlainTextResponse("done")


def main():
    global database
    port, path = int(sys.argv[1]), sys.argv[2]
    database = open_database(path)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    print("ready", listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="error")
    uvicorn.Server(config).run(sockets=[listener])


main()
