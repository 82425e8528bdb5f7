#!/usr/bin/env python3
"""A small OData service of V2 by pyslet, for the tests of our client.

  odata-server.py <root> [<port>]   root: the address under which clients see it

Prints the port it listens on at 127.0.0.1 as its first line and serves until it is ended. The set
Items has ten objects; a page has three. Changes need no ETag: pyslet looks at none.
"""
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from pyslet.odata2 import metadata
from pyslet.odata2.memds import InMemoryEntityContainer
from pyslet.odata2.server import Server

MODEL = """<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
 xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
<edmx:DataServices m:DataServiceVersion="2.0">
<Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">
<EntityContainer Name="C" m:IsDefaultEntityContainer="true">
<EntitySet Name="Items" EntityType="S.Item"/></EntityContainer>
<EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
<Property Name="ID" Type="Edm.Int32" Nullable="false"/>
<Property Name="Name" Type="Edm.String" Nullable="true" MaxLength="100"/>
<Property Name="Rev" Type="Edm.Int32" Nullable="true" ConcurrencyMode="Fixed"/></EntityType>
</Schema></edmx:DataServices></edmx:Edmx>"""


class Quiet(WSGIRequestHandler):
    def log_message(self, *words):
        pass


def main():
    document = metadata.Document()
    document.read(src=MODEL.encode())
    services = document.root.DataServices
    # The container fills the model's sets with a store of its own.
    container = InMemoryEntityContainer(services["S.C"])
    with services["S.C.Items"].open() as items:
        for number in range(10):
            item = items.new_entity()
            item["ID"].set_from_value(number)
            item["Name"].set_from_value("n%d" % number)
            item["Rev"].set_from_value(1)
            items.insert_entity(item)
    server = Server(serviceRoot=sys.argv[1])
    server.topmax = 3
    server.set_model(document)
    listener = make_server("127.0.0.1", int((sys.argv[2:] or ["0"])[0]), server, handler_class=Quiet)
    print(listener.server_port, flush=True)
    listener.serve_forever()
    return container


main()
