import Ferry
import FerryHTTP
import FerryJSON
import FerryOData
import FerryODataFace
import FerryTestKit
import FerryTravel
import Testing

@Suite("A package as a service of OData V2", .timeLimit(.minutes(60)))
struct OldVersionTests {
  private static let root = "/odata/travel/v2/"
  private static let json: HTTPHeaders = ["Accept": "application/json"]

  private func get(
    _ desk: TravelDesk, _ rest: String, user: String = "nancy", _ headers: HTTPHeaders = json
  ) async -> TravelDesk.Answer {
    await desk.get(Self.root + rest, user: user, headers)
  }

  private func send(
    _ desk: TravelDesk, _ method: String, _ rest: String, _ headers: HTTPHeaders, _ body: String
  ) async -> TravelDesk.Answer {
    var all = headers
    if all["Accept"] == nil { all["Accept"] = "application/json" }
    return await desk.send(
      HTTPMethod(rawValue: method), Self.root + rest, all, body)
  }

  @Test("The metadata is of V2, and has associations") func metadata() async throws {
    let desk = try await TravelDesk()
    let answer = await get(desk, "$metadata")
    #expect(answer.headers["DataServiceVersion"] == "2.0")
    #expect(answer.headers["OData-Version"] == nil)
    let metadata = try EdmMetadata.read(answer.bytes, strict: true)
    #expect(metadata.version == .v2)
    #expect(metadata.entitySets.map(\.name) == ["Agencies", "Bookings", "Carriers", "Flights"])
    let booking = try #require(metadata.entityType("Travel.Booking"))
    #expect(metadata.property("bookedAt", of: booking)?.type.name == "Edm.DateTime")
    let flight = try #require(metadata.entityType("Travel.Flight"))
    #expect(metadata.property("departure", of: flight)?.type.name == "Edm.Time")
    let set = try #require(metadata.entitySet("Bookings"))
    #expect(metadata.target(of: "flight", from: set)?.name == "Flights")
    await desk.server.stop()
  }

  @Test("Verbose JSON has entities with their addresses, counts and deferred links")
  func verbose() async throws {
    let desk = try await TravelDesk()
    let answer = await get(desk, "Bookings?$inlinecount=allpages&$top=1&$orderby=bookingID")
    let data = try #require(answer.json?["d"], "\(answer.text)")
    #expect(data["__count"]?.string == "3")
    let first = try #require(data["results"]?.array?.first)
    #expect(data["results"]?.array?.count == 1)
    let place = "http://test.invalid/odata/travel/v2/Bookings(1L)"
    #expect(first["__metadata"]?["uri"]?.string == place)
    #expect(first["__metadata"]?["etag"]?.string?.hasPrefix("W/") == true)
    #expect(first["flight"]?["__deferred"]?["uri"]?.string == place + "/flight")
    let expanded = await get(desk, "Bookings(1)?$expand=flight/carrier&$select=seats,flight/number")
    let entity = try #require(expanded.json?["d"], "\(expanded.text)")
    #expect(entity["seats"] != nil && entity["passenger"] == nil)
    #expect(entity["flight"]?["number"]?.string == "400")
    #expect(entity["flight"]?["origin"] == nil)
    let whole = await get(desk, "Flights(318)?$expand=bookings")
    #expect(whole.json?["d"]?["bookings"]?["results"]?.array?.count == 2, "\(whole.text)")
    #expect(whole.json?["d"]?["departure"]?.string == "PT10H")
    #expect(whole.json?["d"]?["flightDate"]?.string == "/Date(1795219200000)/")
    await desk.server.stop()
  }

  @Test("Atom is the form where a client asks for nothing else") func atom() async throws {
    let desk = try await TravelDesk()
    let feed = await get(desk, "Bookings?$orderby=bookingID", ["Accept": "*/*"])
    #expect(feed.headers["Content-Type"]?.hasPrefix("application/atom+xml;type=feed") == true)
    let metadata = try EdmMetadata.read(await get(desk, "$metadata").bytes)
    let read = try ODataFeed.read(feed.bytes, ODataReadOptions(metadata: metadata, set: "Bookings"))
    #expect(read.entries.map { $0["bookingID"] } == [.int64(1), .int64(3), .int64(5)])
    #expect(read.entries[0].etag != nil && read.entries[0].editLink != nil)
    let entry = await get(desk, "Flights(318)", [:])
    #expect(entry.headers["Content-Type"]?.hasPrefix("application/atom+xml;type=entry") == true)
    let value = await get(desk, "Flights(318)/origin", [:])
    #expect(value.text.contains("<d:origin") && value.text.contains(">FRA<"), "\(value.text)")
    let wrong = await get(desk, "Bookings(77)", [:])
    #expect(wrong.status == 404 && wrong.text.contains("<m:error"), "\(wrong.text)")
    let wrongJSON = await get(desk, "Bookings(77)")
    #expect(wrongJSON.json?["error"]?["message"]?["value"]?.string != nil, "\(wrongJSON.text)")
    await desk.server.stop()
  }

  @Test("A page has the address of the next one, and conditions are those of V2")
  func conditions() async throws {
    let desk = try await TravelDesk(mine: 5)
    var next: String? = Self.root + "Bookings?$orderby=price%20desc"
    var seen: [String] = []
    while let address = next, seen.count < 10 {
      let page = await desk.get(
        address, ["Accept": "application/json", "Prefer": "odata.maxpagesize=2"])
      let data = try #require(page.json?["d"], "\(page.text)")
      seen += data["results"]?.array?.compactMap { $0["passenger"]?.string } ?? []
      next = data["__next"]?.string
    }
    #expect(seen == ["own 4", "own 3", "own 2", "own 1", "own 0"])
    for condition in [
      "substringof('own 3',passenger)", "price%20eq%20107m", "bookingID%20eq%207L",
      "flight/flightDate%20eq%20datetime'2026-11-21T00:00:00'%20and%20passenger%20eq%20'own%203'",
      "flight/departure%20eq%20time'PT10H'%20and%20endswith(passenger,'3')",
    ] {
      let found = await get(desk, "Bookings?$filter=\(condition)")
      let names = found.json?["d"]?["results"]?.array?.compactMap { $0["passenger"]?.string }
      #expect(names == ["own 3"], "\(condition): \(found.text)")
    }
    #expect((await get(desk, "Bookings/$count")).text == "5")
    #expect((await get(desk, "Bookings(1)/passenger/$value", [:])).text == "own 0")
    let hidden = await get(desk, "Bookings?$filter=substringof('hidden',passenger)")
    #expect(hidden.json?["d"]?["results"]?.array?.isEmpty == true)
    await desk.server.stop()
  }

  @Test("Entities are made, merged and deleted, in JSON and in Atom") func writing() async throws {
    let desk = try await TravelDesk()
    let made = await send(
      desk, "POST", "Bookings", [:],
      #"{"agencyID":"A07","passenger":"Ada","cabin":"first","seats":1,"flight":{"__metadata":{"uri":"Flights(318)"}}}"#
    )
    #expect(made.status == 201, "\(made.text)")
    let place = try #require(made.headers["Location"])
    #expect(made.json?["d"]?["flightID"]?.string == "318", "\(made.text)")
    let tag = try #require(made.json?["d"]?["__metadata"]?["etag"]?.string)
    let rest = String(place.dropFirst("http://test.invalid\(Self.root)".count))
    let without = await send(desk, "MERGE", rest, [:], #"{"seats":2}"#)
    #expect(without.status == 428, "\(without.text)")
    let merged = await send(desk, "MERGE", rest, ["If-Match": tag], #"{"seats":2}"#)
    #expect(merged.status == 204, "\(merged.text)")
    let newTag = try #require(merged.headers["ETag"])
    let tunnelled = await send(
      desk, "POST", rest, ["If-Match": newTag, "X-HTTP-Method": "MERGE"], #"{"seats":1}"#)
    #expect(tunnelled.status == 204, "\(tunnelled.text)")
    let stale = await send(desk, "MERGE", rest, ["If-Match": tag], #"{"seats":2}"#)
    #expect(stale.status == 412, "\(stale.text)")
    let last = try #require(tunnelled.headers["ETag"])
    let gone = await send(desk, "DELETE", rest, ["If-Match": last], "")
    #expect(gone.status == 204, "\(gone.text)")
    await desk.server.stop()
  }

  @Test("Links are read and set") func links() async throws {
    let desk = try await TravelDesk()
    let link = await get(desk, "Bookings(1)/$links/flight")
    #expect(
      link.json?["d"]?["uri"]?.string == "http://test.invalid\(Self.root)Flights(318L)",
      "\(link.text)")
    let links = await get(desk, "Flights(318)/$links/bookings")
    #expect(links.json?["d"]?["results"]?.array?.count == 2, "\(links.text)")
    let xml = await get(desk, "Bookings(1)/$links/flight", [:])
    #expect(xml.text.contains("Flights(318L)</uri>"), "\(xml.text)")
    let tag = try #require((await get(desk, "Bookings(1)")).headers["ETag"])
    let set = await send(
      desk, "PUT", "Bookings(1)/$links/flight", ["If-Match": tag], #"{"uri":"Flights(319)"}"#)
    #expect(set.status == 204, "\(set.text)")
    #expect((await get(desk, "Bookings(1)/flightID/$value", [:])).text == "319")
    let newTag = try #require((await desk.get("Bookings(1)")).headers["ETag"])
    let again = await desk.send(
      .put, "Bookings(1)/flight/$ref", ["If-Match": newTag], #"{"@odata.id":"Flights(318)"}"#)
    #expect(again.status == 204, "\(again.text)")
    let wrong = await desk.send(
      .put, "Bookings(1)/flight/$ref", ["If-Match": newTag], #"{"@odata.id":"Agencies('A07')"}"#)
    #expect(wrong.status == 400, "\(wrong.text)")
    await desk.server.stop()
  }

  @Test("A batch of V2 has an answer for each part") func batch() async throws {
    let desk = try await TravelDesk()
    let body = [
      "--batch_id-1666-12", "Content-Type: application/http",
      "Content-Transfer-Encoding: binary", "", "GET Bookings(1)?$format=json HTTP/1.1", "", "",
      "--batch_id-1666-12", "Content-Type: application/http",
      "Content-Transfer-Encoding: binary", "", "GET Bookings(2) HTTP/1.1",
      "Accept: application/json", "", "", "--batch_id-1666-12--", "",
    ].joined(separator: "\r\n")
    let answer = await desk.send(
      .post, Self.root + "$batch", [:], body,
      type: "multipart/mixed;boundary=batch_id-1666-12")
    #expect(answer.status == 202, "\(answer.text)")
    #expect(answer.text.contains("\"passenger\":\"own 0\""), "\(answer.text)")
    #expect(answer.text.contains("HTTP/1.1 404"), "\(answer.text)")
    await desk.server.stop()
  }
}
