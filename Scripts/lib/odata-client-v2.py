#!/usr/bin/env python3
"""Reads and writes a package by clients of V2 that nobody here has written: pyodata and pyslet.

  odata-client-v2.py ROOT USER PASSWORD   root: http://HOST:PORT/odata/travel/v2/

Prints one line for each thing that works, and ends with 1 at the first that does not. pyslet speaks
Atom and sends no If-Match, so it only reads.
"""
import sys

import pyodata
import requests
from pyslet.http.auth import BasicCredentials
from pyslet.odata2 import core
from pyslet.odata2.client import Client
from pyslet.rfc2396 import URI

root, user, password = sys.argv[1:]


def check(name, is_right):
    if not is_right:
        sys.exit(f"{name} is not as it should be")
    print(name)


session = requests.Session()
session.auth = (user, password)
client = pyodata.Client(root, session)
bookings = client.entity_sets.Bookings
check("pyodata: metadata", {"Bookings", "Flights"} <= {one.name for one in client.schema.entity_sets})
count = bookings.get_entities().count().execute()
everything = bookings.get_entities().execute()
check("pyodata: count and all entities", len(everything) == count > 0)
dear = bookings.get_entities().filter("seats eq 1").order_by("price desc").top(5).execute()
prices = [one.price for one in dear]
check("pyodata: filter and order", len(prices) == 5 and prices == sorted(prices, reverse=True))
planned = bookings.get_entities().filter("flight/status eq 'planned'").expand("flight").top(1).execute()[0]
check("pyodata: expand", planned.flight.flightID == planned.flightID)
key = planned.bookingID
read = bookings.get_entity(key).execute()
check("pyodata: entity by key", read.bookingID == key and read.etag)
check("pyodata: navigation", read.nav("flight").execute().flightID == read.flightID)


def guarded(request, etag):
    request.add_headers({"If-Match": etag})
    return request.execute()


def change(note, etag):
    return guarded(bookings.update_entity(key, method="MERGE").set(note=note), etag)


change("by pyodata", read.etag)
check("pyodata: merge", bookings.get_entity(key).execute().note == "by pyodata")
try:
    change("stale", read.etag)
    check("pyodata: refusal of an old ETag", False)
except pyodata.exceptions.HttpError as error:
    check("pyodata: refusal of an old ETag", error.response.status_code == 412)
roomy = client.entity_sets.Flights.get_entities().filter("status eq 'planned' and seatsLeft gt 9").top(1).execute()[0]
made = bookings.create_entity().set(
    agencyID=read.agencyID, flightID=roomy.flightID, passenger="Ada", cabin="economy", seats=1).execute()
check("pyodata: create", made.passenger == "Ada" and made.flightID == roomy.flightID)
batch = client.create_batch()
batch.add_request(bookings.get_entity(key))
batch.add_request(bookings.get_entities().count())
answers = batch.execute()
check("pyodata: batch", answers[0].bookingID == key and answers[1] == count + 1)
made = bookings.get_entity(made.bookingID).execute()
guarded(bookings.delete_entity(made.bookingID), made.etag)
check("pyodata: delete", bookings.get_entities().count().execute() == count)

credentials = BasicCredentials()
credentials.userid, credentials.password = user, password
credentials.protectionSpace = URI.from_octets(root).get_canonical_root()
credentials.add_success_path("/")
service = Client()
service.add_credentials(credentials)
service.load_service(root)
check("pyslet: service document and metadata", {"Bookings", "Flights"} <= set(service.feeds))
with service.feeds["Bookings"].open() as collection:
    check("pyslet: count", len(collection) == count)
    collection.set_filter(core.CommonExpression.from_str("seats eq 1"))
    collection.set_orderby(core.CommonExpression.orderby_from_str("price desc"))
    found = list(collection.itervalues())
    check("pyslet: filter and order, in Atom", len(found) > 4 and found[0]["price"].value >= found[4]["price"].value)
    mine = found[0]
    # A flight has an Edm.Time, and pyslet does not read the PT10H that V2 writes in Atom.
    agency = mine["agency"].get_entity()
    check("pyslet: navigation", agency["agencyID"].value == mine["agencyID"].value)
