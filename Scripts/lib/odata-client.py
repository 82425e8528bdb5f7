#!/usr/bin/env python3
"""Reads and writes a package by the client of odatapy, which nobody here has written.

  odata-client.py ROOT USER PASSWORD   root: http://HOST:PORT/odata/travel/v4

Prints one line for each thing that works, and ends with 1 at the first that does not.
"""
import sys

from odatapy.client import BasicAuth, EdmEnabledODataClient, ODataClientError
from odatapy.client.transport import HttpxTransport

root, user, password = sys.argv[1:]
client = EdmEnabledODataClient(root, HttpxTransport(auth=BasicAuth(user, password)))


def check(name, is_right):
    if not is_right:
        sys.exit(f"odatapy: {name} is not as it should be")
    print(f"odatapy: {name}")


def value(entity, name):
    return next(one.value for one in entity.properties if one.name == name)


def sets(name):
    return client.entity_set_uri(name)


def booking(key):
    return client.entity_uri("Bookings", key)


check("service document", {"Bookings", "Flights"} <= {one.name for one in client.get_service_document().entries})
check("metadata", client.get_edm() is not None)
count = client.get_count(sets("Bookings").append_count_segment())
check("all entities", len(list(client.iter_entities(sets("Bookings")))) == count > 0)
dear = client.get_entity_set(
    sets("Bookings").filter("seats eq 1").orderby("price desc").select("bookingID", "price").top(5).count())
prices = [value(one, "price") for one in dear.entities]
check("filter, order and select", len(prices) == 5 and prices == sorted(prices, reverse=True))
planned = client.get_entity_set(sets("Bookings").filter("flight/status eq 'planned'").expand("flight").top(1))
mine = planned.entities[0]
key = value(mine, "bookingID")
read = client.get_entity(booking(key))
check("entity by key", value(read, "bookingID") == key)
raw = client.get_value(booking(key).append_property_segment("passenger").append_value_segment())
check("raw value", raw.text() == value(read, "passenger"))
flight = client.get_entity(booking(key).append_navigation_segment("flight"))
check("navigation", value(flight, "flightID") == value(read, "flightID"))
client.update_entity(booking(key), {"note": "by odatapy"}, etag=read.etag)
check("update", value(client.get_entity(booking(key)), "note") == "by odatapy")
try:
    client.update_entity(booking(key), {"note": "stale"}, etag=read.etag)
    check("refusal of an old ETag", False)
except ODataClientError as error:
    check("refusal of an old ETag", "412" in str(error))
roomy = client.get_entity_set(sets("Flights").filter("status eq 'planned' and seatsLeft gt 9").top(1)).entities[0]
new = {
    "agencyID": value(read, "agencyID"), "flightID": value(roomy, "flightID"), "passenger": "Ada",
    "cabin": "economy", "seats": 1,
}
for form in ("multipart", "json"):
    batch = client.batch(format=form)
    batch.add_retrieve(booking(key))
    batch.add_changeset().create("Bookings", new)
    parts = client.execute_batch(batch).parts
    codes = [part.status_code if not isinstance(part, list) else [one.status_code for one in part] for part in parts]
    check(f"batch in the form {form}", codes == [200, [201]])
made = client.get_entity_set(sets("Bookings").filter("passenger eq 'Ada'"))
check("creates of the batches", len(made.entities) == 2)
for one in made.entities:
    client.delete_entity(booking(value(one, "bookingID")), etag=one.etag)
check("delete", client.get_count(sets("Bookings").append_count_segment()) == count)
