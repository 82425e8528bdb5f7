#!/usr/bin/env python3
"""An OData service of V4 by odatapy as a business system: Scripts/check-odata-business.

  odata-v4.py <port> [--items N] [--delay MS]
                             at 127.0.0.1, or at a free port for 0; prints "ready <port>" and serves
                             until it is ended

The sets are Shelves, Items, Orders, Lines and Notes; an item is on a shelf, lines and notes belong to an
order. The service makes the keys of orders and lines. Everything is odatapy's own: ETags that it checks, links to
later changes, change sets that are done as a whole. GET /log tells each change of clients that was done,
one a line; POST /others/<id>/<stock> is a change by somebody else, DELETE /others/<id> a deletion.
"""
import decimal
import socketserver
import sys
import time
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from odatapy.data import Entity, ValueType
from odatapy.edm.csdl import (
    CsdlAbstractEdmProvider, CsdlAnnotation, CsdlEntityContainer, CsdlEntitySet, CsdlEntityType,
    CsdlNavigationProperty, CsdlNavigationPropertyBinding, CsdlProperty, CsdlPropertyRef,
    CsdlReferentialConstraint, CsdlSchema)
from odatapy.server import OData
from odatapy.server.adapters import ODataWSGIApp
from odatapy.server.inmemory import InMemoryDataStore, InMemoryProcessor
from odatapy.server.processor import CustomETagSupport


def entity_type(name, properties, navigations=(), given=False):
    key = CsdlProperty(name="ID", type="Edm.Int64" if given else "Edm.Int32", nullable=False)
    if given:
        key.annotations.append(CsdlAnnotation(term="Org.OData.Core.V1.Computed", value=True))
    return CsdlEntityType(
        name=name, key=[CsdlPropertyRef(name="ID")], properties=[key, *properties],
        navigation_properties=list(navigations))


def reference(name, target, partner, column):
    return CsdlNavigationProperty(
        name=name, type="S." + target, partner=partner,
        referential_constraints=[CsdlReferentialConstraint(column, "ID")])


def many(name, target, partner):
    return CsdlNavigationProperty(name=name, type="S." + target, collection=True, partner=partner)


def entity_set(name, kind, bindings):
    return CsdlEntitySet(
        name=name, type="S." + kind,
        navigation_property_bindings=[CsdlNavigationPropertyBinding(*one) for one in bindings])


class Model(CsdlAbstractEdmProvider):
    def get_schemas(self):
        number = lambda name: CsdlProperty(name=name, type="Edm.Int32")
        text = lambda name, length: CsdlProperty(name=name, type="Edm.String", max_length=length)
        types = [
            entity_type("Shelf", [text("Place", 40)], [many("Items", "Item", "Shelf")]),
            entity_type(
                "Item",
                [text("Name", 100), number("Stock"),
                 CsdlProperty(name="Price", type="Edm.Decimal", precision=9, scale=2),
                 CsdlProperty(name="Counted", type="Edm.DateTimeOffset"), number("ShelfID")],
                [reference("Shelf", "Shelf", "Items", "ShelfID")]),
            entity_type(
                "Order", [text("Number", 40), number("Total")],
                [many("Lines", "Line", "Order"), many("Notes", "Note", "Order")], given=True),
            entity_type(
                "Line", [text("Text", 40), CsdlProperty(name="OrderID", type="Edm.Int64")],
                [reference("Order", "Order", "Lines", "OrderID")], given=True),
            entity_type(
                "Note", [text("Text", 40), CsdlProperty(name="OrderID", type="Edm.Int64")],
                [reference("Order", "Order", "Notes", "OrderID")]),
        ]
        types[2].annotations.append(CsdlAnnotation(
            term="Org.OData.Core.V1.AlternateKeys", value=[{"Key": [{"Name": "Number", "Alias": "n"}]}]))
        container = CsdlEntityContainer(
            name="C",
            entity_sets=[
                entity_set("Shelves", "Shelf", [("Items", "Items")]),
                entity_set("Items", "Item", [("Shelf", "Shelves")]),
                entity_set("Orders", "Order", [("Lines", "Lines"), ("Notes", "Notes")]),
                entity_set("Lines", "Line", [("Order", "Orders")]),
                entity_set("Notes", "Note", [("Order", "Orders")]),
            ],
            annotations=[CsdlAnnotation(term="Org.OData.Capabilities.V1.BatchSupported", value=True)])
        return [CsdlSchema(namespace="S", entity_types=types, entity_container=container)]


class ETags(CustomETagSupport):
    def has_etag(self, target):
        return True


class Store(InMemoryDataStore):
    """A line that is made below an order has the order's key too."""

    def add_relation(self, entity_set, key, nav, target):
        super().add_relation(entity_set, key, nav, target)
        if entity_set == "Orders":
            target.set_property("OrderID", int(key), ValueType.PRIMITIVE, "Edm.Int64")


class Business:
    def __init__(self, app, store, processor, delay):
        self.app, self.store, self.processor, self.delay = app, store, processor, delay
        self.others = set()

    def log(self):
        kinds = {"deleted": "DELETE"}
        with self.store.lock:
            changes = [one for one in self.store.change_log if one["seq"] not in self.others]
        return "\n".join(
            "%s %s" % (kinds.get(one["kind"], "WRITE"), (one["id"] or "").rsplit("/", 1)[-1])
            for one in changes)

    def __call__(self, environ, start):
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if path == "/log":
            return self.answer(start, self.log())
        if path.startswith("/others/"):
            parts = path.split("/")
            with self.store.lock:
                item = next(
                    (one for one in self.store.entities("Items")
                     if one.get_property("ID").value == int(parts[2])), None)
                if item is None:
                    return self.answer(start, "none")
                if method == "DELETE":
                    self.store.remove_entity("Items", item)
                    self.store.record_change("Items", item, "deleted")
                else:
                    item.set_property("Stock", int(parts[3]), ValueType.PRIMITIVE, "Edm.Int32")
                    self.processor._bump_etag(None, item)
                    self.store.record_change("Items", item, "changed")
                self.others.add(self.store.change_log[-1]["seq"])
            return self.answer(start, "done")
        if self.delay:
            time.sleep(self.delay)
        return self.app(environ, start)

    @staticmethod
    def answer(start, text):
        start("200 OK", [("Content-Type", "text/plain")])
        return [text.encode()]


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass


class Threads(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


def entity(**values):
    one = Entity()
    for name, (value, kind) in values.items():
        one.set_property(name, value, ValueType.PRIMITIVE, kind)
    one.etag = 'W/"1"'
    return one


def main():
    arguments = sys.argv[2:]
    option = lambda name, default: int(arguments[arguments.index(name) + 1]) if name in arguments else default
    count, delay = option("--items", 10), option("--delay", 0)
    store = Store()
    store.declare_key_auto_generating("Orders", "Lines")
    i32, text = "Edm.Int32", "Edm.String"
    store.set_entities("Shelves", [
        entity(ID=(number, i32), Place=("aisle %d" % number, text)) for number in (1, 2)])
    store.set_entities("Items", [
        entity(ID=(number, i32), Name=("item %d" % number, text), Stock=(5, i32),
               Price=(decimal.Decimal("1.50"), "Edm.Decimal"), Counted=(None, "Edm.DateTimeOffset"),
               ShelfID=(number % 2 + 1, i32))
        for number in range(1, count + 1)])
    store.set_entities("Orders", [])
    store.set_entities("Lines", [])
    store.set_entities("Notes", [])
    odata = OData.new_instance()
    handler = odata.create_handler(odata.create_service_metadata(Model()))
    processor = InMemoryProcessor(store, page_size=max(3, count // 20))
    handler.register(processor)
    handler.register(ETags())
    business = Business(ODataWSGIApp(handler), store, processor, delay / 1000)
    listener = make_server(
        "127.0.0.1", int(sys.argv[1]), business, server_class=Threads, handler_class=Quiet)
    for part in ("Shelves", "Items"):
        for one in store.entities(part):
            one.id = "http://127.0.0.1:%d/%s(%d)" % (
                listener.server_port, part, one.get_property("ID").value)
    print("ready", listener.server_port, flush=True)
    listener.serve_forever()


main()
