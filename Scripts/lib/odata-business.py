#!/usr/bin/env python3
"""An OData service of V2 by pyslet as a business system: Scripts/check-odata-business.

  odata-business.py <port> [--items N] [--root URL]
                             at 127.0.0.1, or at a free port for 0; prints "ready <port>" and serves
                             until it is ended; URL is the address under which clients see it

The sets are Shelves and Items; an item is on a shelf. pyslet looks at no condition, so that is done
here: a change needs the ETag of the object (`If-Match`), each change makes another one (`Rev`), and one
under an older ETag is answered 412. GET /log tells each change that was done, one a line; POST
/others/<id>/<stock> is a change by somebody else. One request is served at a time.
"""
import decimal
import json
import re
import socket
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from pyslet.odata2 import core, metadata
from pyslet.odata2.memds import InMemoryEntityContainer
from pyslet.odata2.server import Server

MODEL = """<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
 xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
 xmlns:sap="http://www.sap.com/Protocols/SAPData">
<edmx:DataServices m:DataServiceVersion="2.0">
<Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">
<EntityContainer Name="C" m:IsDefaultEntityContainer="true">
<EntitySet Name="Shelves" EntityType="S.Shelf" sap:deletable="false"/>
<EntitySet Name="Items" EntityType="S.Item"/>
<AssociationSet Name="ShelfItems" Association="S.ShelfItem">
<End Role="Shelf" EntitySet="Shelves"/><End Role="Item" EntitySet="Items"/></AssociationSet>
</EntityContainer>
<EntityType Name="Shelf"><Key><PropertyRef Name="ID"/></Key>
<Property Name="ID" Type="Edm.Int32" Nullable="false"/>
<Property Name="Place" Type="Edm.String" Nullable="false" MaxLength="40"/>
<Property Name="Rev" Type="Edm.Int32" Nullable="true" ConcurrencyMode="Fixed"/>
<NavigationProperty Name="Items" Relationship="S.ShelfItem" FromRole="Shelf" ToRole="Item"/>
</EntityType>
<EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
<Property Name="ID" Type="Edm.Int32" Nullable="false"/>
<Property Name="Name" Type="Edm.String" Nullable="true" MaxLength="100" sap:label="Name of the item"/>
<Property Name="Stock" Type="Edm.Int32" Nullable="true"/>
<Property Name="Price" Type="Edm.Decimal" Nullable="true" Precision="9" Scale="2"/>
<Property Name="Counted" Type="Edm.DateTime" Nullable="true"/>
<Property Name="ShelfID" Type="Edm.Int32" Nullable="true"/>
<Property Name="Rev" Type="Edm.Int32" Nullable="true" ConcurrencyMode="Fixed"/>
<NavigationProperty Name="Shelf" Relationship="S.ShelfItem" FromRole="Item" ToRole="Shelf"/>
</EntityType>
<Association Name="ShelfItem">
<End Role="Shelf" Type="S.Shelf" Multiplicity="0..1"/>
<End Role="Item" Type="S.Item" Multiplicity="*"/>
<ReferentialConstraint><Principal Role="Shelf"><PropertyRef Name="ID"/></Principal>
<Dependent Role="Item"><PropertyRef Name="ShelfID"/></Dependent></ReferentialConstraint></Association>
</Schema></edmx:DataServices></edmx:Edmx>"""

OBJECT = re.compile(r"^/(Items|Shelves)\((\d+)\)$")


class Quiet(WSGIRequestHandler):
    def log_message(self, *words):
        pass


class Business:
    """pyslet's service, with conditions and a list of what was done."""

    def __init__(self, sets, server):
        self.sets, self.server, self.log = sets, server, []

    def etag(self, name, key):
        with self.sets[name].open() as items:
            try:
                entity = items[key]
            except KeyError:
                return None
            tag = core.Entity.format_etag(entity.etag(), entity.etag_is_strong())
            return tag.decode("ascii") if isinstance(tag, bytes) else tag

    def bump(self, name, key):
        with self.sets[name].open() as items:
            entity = items[key]
            entity["Rev"].set_from_value((entity["Rev"].value or 0) + 1)
            items.update_entity(entity)

    def __call__(self, environ, start):
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if path == "/log":
            return answer(start, "200 OK", "\n".join(self.log))
        if path.startswith("/others/"):
            _, _, key, stock = path.split("/")
            with self.sets["Items"].open() as items:
                entity = items[int(key)]
                entity["Stock"].set_from_value(int(stock))
                items.update_entity(entity)
            self.bump("Items", int(key))
            return answer(start, "200 OK", "done")
        found = OBJECT.match(path)
        if method == "POST" and path == "/Items":
            return self.create(environ, start)
        if method in ("GET", "POST") or not found:
            return self.pass_on(environ, start)
        name, key = found[1], int(found[2])
        tag, wanted = self.etag(name, key), environ.get("HTTP_IF_MATCH")
        if tag is not None and wanted is None:
            return refuse(start, "428 Precondition Required", "a change needs an ETag")
        if tag is not None and wanted != tag:
            return refuse(start, "412 Precondition Failed", "the object was changed")
        status = []

        def noted(line, headers, *rest):
            status.append(line)
            return start(line, headers, *rest)

        body = list(self.pass_on(environ, noted))
        if status and status[0].startswith("2"):
            self.log.append("%s %s(%d)" % (method, name, key))
            if method != "DELETE":
                self.bump(name, key)
        return body

    def create(self, environ, start):
        said = []

        def noted(line, headers, *rest):
            said.append((line, dict((name.lower(), value) for name, value in headers)))
            return start(line, headers, *rest)

        body = list(self.pass_on(environ, noted))
        if said and said[0][0].startswith("201"):
            key = re.search(r"\((\d+)\)", said[0][1].get("location", ""))
            self.log.append("POST Items(%s)" % (key[1] if key else "?"))
        return body

    def pass_on(self, environ, start):
        return self.server(environ, start)


def answer(start, status, text):
    start(status, [("Content-Type", "text/plain")])
    return [text.encode()]


def refuse(start, status, text):
    start(status, [("Content-Type", "application/json"), ("DataServiceVersion", "2.0;")])
    return [json.dumps({"error": {"code": "", "message": {"lang": "en", "value": text}}}).encode()]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def main():
    port = int(sys.argv[1]) or free_port()
    count = int(option("--items", 10))
    document = metadata.Document()
    document.read(src=MODEL.encode())
    services = document.root.DataServices
    container = InMemoryEntityContainer(services["S.C"])
    sets = {name: services["S.C." + name] for name in ("Items", "Shelves")}
    with sets["Shelves"].open() as shelves:
        for number in range(1, 3):
            shelf = shelves.new_entity()
            shelf["ID"].set_from_value(number)
            shelf["Place"].set_from_value("aisle %d" % number)
            shelf["Rev"].set_from_value(1)
            shelves.insert_entity(shelf)
    with sets["Items"].open() as items:
        for number in range(1, count + 1):
            item = items.new_entity()
            item["ID"].set_from_value(number)
            item["Name"].set_from_value("item %d" % number)
            item["Stock"].set_from_value(5)
            item["Price"].set_from_value(decimal.Decimal("1.50"))
            item["ShelfID"].set_from_value(number % 2 + 1)
            item["Rev"].set_from_value(1)
            items.insert_entity(item)
    server = Server(serviceRoot=option("--root", "http://127.0.0.1:%d/" % port))
    server.topmax = max(3, count // 4)
    server.set_model(document)
    listener = make_server("127.0.0.1", port, Business(sets, server), handler_class=Quiet)
    print("ready", port, flush=True)
    listener.serve_forever()
    return container


main()
