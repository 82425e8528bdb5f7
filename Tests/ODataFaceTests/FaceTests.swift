import Ferry
import FerryHTTP
import FerryJSON
import FerryModel
import FerryOData
import FerryODataFace
import FerryTestKit
import FerryTravel
import Testing

@Suite("A package as a service of OData", .timeLimit(.minutes(60)))
struct FaceTests {
  @Test("The metadata has sets, navigation and what the model says of values") func metadata()
    async throws
  {
    let desk = try await TravelDesk()
    let answer = await desk.get("$metadata")
    let metadata = try EdmMetadata.read(answer.bytes, strict: true)
    #expect(metadata.entitySets.map(\.name) == ["Agencies", "Bookings", "Carriers", "Flights"])
    let booking = try #require(metadata.entityType("Travel.Booking"))
    #expect(metadata.keys(of: booking).map(\.name) == ["bookingID"])
    #expect(metadata.navigationProperty("agency", of: booking)?.partner == "bookings")
    let cabin = try #require(metadata.property("cabin", of: booking))
    #expect(cabin.annotations.contains { $0.term == "Org.OData.Validation.V1.AllowedValues" })
    #expect(metadata.property("bookedAt", of: booking)?.type.name == "Edm.DateTimeOffset")
    #expect(
      answer.text.contains("Org.OData.Repeatability.V1.Supported")
        && answer.text.contains("is kept for 7 days"))
    let root = await desk.get("")
    #expect(root.texts("name") == ["Agencies", "Bookings", "Carriers", "Flights"])
    await desk.server.stop()
  }

  @Test("A user sees the rows of the own partitions, by each way there is") func partitions()
    async throws
  {
    let desk = try await TravelDesk()
    let all = await desk.get("Bookings?$orderby=bookingID&$count=true")
    #expect(all.texts("passenger") == ["own 0", "own 1", "own 2"], "\(all.text)")
    #expect(all.json?["@odata.count"]?.integer == 3)
    #expect((await desk.get("Bookings(2)")).status == 404)
    #expect((await desk.get("Bookings/$count")).text == "3")
    let flight = await desk.get("Flights(318)?$expand=bookings")
    #expect(flight.json?["bookings"]?.array?.count == 2, "\(flight.text)")
    #expect((await desk.get("Flights(318)/bookings/$count")).text == "2")
    let hidden = await desk.get(
      "Flights?$filter=bookings/any(b:contains(b/passenger,'hidden'))")
    #expect(hidden.status == 200 && hidden.value.isEmpty, "\(hidden.text)")
    #expect((await desk.get("Agencies('A08')/bookings")).value.isEmpty)
    #expect((await desk.get("Bookings/$count", user: "both")).text == "6")
    #expect((await desk.get("Bookings/$count", user: "nobody")).text == "0")
    await desk.server.stop()
  }

  @Test("Without a login no body is kept, with a wrong one nothing is told") func logins()
    async throws
  {
    let desk = try await TravelDesk()
    let request = HTTPRequest(method: .post, path: "/odata/travel/v4/Bookings")
    guard case .refuse(let refusal) = desk.face.admit(request) else {
      Issue.record("a request without a login was admitted")
      return
    }
    #expect(refusal.status == 401 && refusal.headers["WWW-Authenticate"] != nil)
    desk.server.refuseLogin(user: "nancy")
    let wrong = await desk.get("Bookings")
    #expect(wrong.status == 401 && wrong.headers["WWW-Authenticate"] != nil)
    // A stranger learns neither which packages there are nor which versions.
    for address in ["/odata/other/v4/Bookings", "/odata/travel/v2/", "/odata/travel"] {
      #expect((await desk.get(address)).status == 401, "\(address)")
    }
    desk.server.acceptLogin(user: "nancy")
    #expect((await desk.get("Bookings")).status == 200)
    #expect((await desk.get("/odata/other/v4/Bookings")).status == 404)
    #expect((await desk.get("/odata/travel/v3/Bookings")).status == 404)
    #expect((await desk.get("/odata/travel")).status == 404)
    await desk.server.stop()
  }

  @Test("A change by PATCH is in the business system and on a device") func patch() async throws {
    let desk = try await TravelDesk()
    let device = try await desk.server.database(user: "nancy", claims: ["agency": ["A07"]])
    let before = await desk.get("Bookings(1)")
    let tag = try #require(before.headers["ETag"])
    let answer = await desk.send(
      .patch, "Bookings(1)", ["If-Match": tag, "Prefer": "return=representation"],
      #"{"passenger":"Grace","seats":2}"#)
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.json?["passenger"]?.string == "Grace")
    #expect(answer.headers["ETag"] != tag)
    #expect(
      try desk.server.rows(of: Booking.self).first { try $0["bookingID"] == 1 }?["passenger"]
        == "Grace")
    try await device.synchronize()
    let passengers = try Booking.findAll(in: device).map(\.passenger)
    #expect(passengers.contains("Grace") && passengers.count == 3)
    let stale = await desk.send(
      .patch, "Bookings(1)", ["If-Match": tag], #"{"passenger":"Late"}"#)
    #expect(stale.status == 412, "\(stale.text)")
    #expect((await desk.send(.patch, "Bookings(1)", [:], #"{"seats":1}"#)).status == 428)
    let any = await desk.send(.patch, "Bookings(1)", ["If-Match": "*"], #"{"seats":1}"#)
    #expect(any.status == 428, "\(any.text)")
    await desk.server.stop()
  }

  @Test("What the business refuses has its code, reason and attribute") func refused() async throws
  {
    let desk = try await TravelDesk()
    desk.server.refuse(
      Booking.self, of: [.update], code: 412, "The flight is closed.", hint: "Choose another one.")
    let tag = try #require((await desk.get("Bookings(1)")).headers["ETag"])
    let answer = await desk.send(.patch, "Bookings(1)", ["If-Match": tag], #"{"seats":2}"#)
    #expect(answer.status == 412, "\(answer.text)")
    #expect(answer.json?["error"]?["message"]?.string == "The flight is closed.")
    #expect(answer.json?["error"]?["innererror"]?["hint"]?.string == "Choose another one.")
    #expect(try desk.server.rows(of: Booking.self).first?["seats"] == 1)
    let unlisted = await desk.send(
      .patch, "Bookings(1)", ["If-Match": tag], #"{"cabin":"roof"}"#)
    #expect(unlisted.status == 422, "\(unlisted.text)")
    #expect(unlisted.json?["error"]?["target"]?.string == "cabin")
    #expect(
      (await desk.send(.patch, "Flights(318)", ["If-Match": "*"], #"{"seats":1}"#)).status == 405)
    await desk.server.stop()
  }

  @Test("A row of others cannot be changed, deleted or taken") func foreign() async throws {
    let desk = try await TravelDesk()
    for method in [HTTPMethod.patch, .put, .delete] {
      let answer = await desk.send(
        method, "Bookings(2)", ["If-Match": "W/\"1\""],
        method == .delete ? "" : #"{"passenger":"mine"}"#)
      #expect(answer.status == 404, "\(method): \(answer.text)")
    }
    let stolen = await desk.send(
      .post, "Bookings", [:],
      #"{"agencyID":"A08","flightID":318,"passenger":"x","cabin":"economy","seats":1}"#)
    #expect([403, 404].contains(stolen.status), "\(stolen.text)")
    #expect(!stolen.text.contains("hidden"))
    #expect(desk.server.rows(of: Booking.self).count == 6)
    await desk.server.stop()
  }

  @Test("A create gets the key of the business system, a delete removes the row") func create()
    async throws
  {
    let desk = try await TravelDesk()
    let body =
      #"{"agencyID":"A07","flight@odata.bind":"Flights(319)","passenger":"New","cabin":"first","seats":1}"#
    let made = await desk.send(.post, "Bookings", [:], body)
    #expect(made.status == 201, "\(made.text)")
    let place = try #require(made.headers["Location"])
    let read = await desk.get(place)
    #expect(read.json?["passenger"]?.string == "New" && read.json?["flightID"]?.integer == 319)
    #expect(read.headers["ETag"] == made.headers["ETag"])
    let given = await desk.send(
      .post, "Bookings", [:],
      #"{"bookingID":77,"agencyID":"A07","flightID":318,"passenger":"x","cabin":"first","seats":1}"#
    )
    #expect(given.status == 400, "\(given.text)")
    let tag = try #require(read.headers["ETag"])
    #expect((await desk.send(.delete, place, ["If-Match": tag])).status == 204)
    #expect((await desk.get(place)).status == 404)
    #expect(desk.server.rows(of: Booking.self).count == 6)
    await desk.server.stop()
  }

  @Test("The changes of a set are one transaction of the business system") func changeSets()
    async throws
  {
    let desk = try await TravelDesk()
    let tags = [
      try #require((await desk.get("Bookings(1)")).headers["ETag"]),
      try #require((await desk.get("Bookings(3)")).headers["ETag"]),
    ]
    func set(_ first: String) -> String {
      let json = #""headers":{"Content-Type":"application/json","If-Match":"#
      return
        #"{"requests":[{"id":"1","atomicityGroup":"g","method":"PATCH","url":"Bookings(1)",\#(json)\#(quoted(tags[0]))},"body":\#(first)},{"id":"2","atomicityGroup":"g","method":"DELETE","url":"Bookings(3)",\#(json)\#(quoted(tags[1]))}}]}"#
    }
    func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }
    desk.server.refuse(
      Booking.self, of: [.delete], code: 412, "The booking is closed.", hint: "Keep it.")
    let failed = await desk.send(.post, "$batch", [:], set(#"{"passenger":"Together"}"#))
    let refusals = failed.json?["responses"]?.array ?? []
    #expect(refusals.map { $0["status"]?.integer } == [412], "\(failed.text)")
    #expect((await desk.get("Bookings(1)")).json?["passenger"]?.string == "own 0")
    #expect((await desk.get("Bookings(3)")).status == 200)
    desk.server.acceptAll()
    let answer = await desk.send(.post, "$batch", [:], set(#"{"passenger":"Together"}"#))
    let statuses = answer.json?["responses"]?.array?.map { $0["status"]?.integer }
    #expect(statuses == [204, 204], "\(answer.text)")
    #expect((await desk.get("Bookings(1)")).json?["passenger"]?.string == "Together")
    #expect((await desk.get("Bookings(3)")).status == 404)
    await desk.server.stop()
  }

  @Test("The same request twice is done once, and another one under its id is refused")
  func repeated() async throws {
    let desk = try await TravelDesk()
    let id: HTTPHeaders = ["Repeatability-Request-ID": "6f2d1f0e-0c1b-4a65-9a0f-2c8f6a3f9d11"]
    let body = #"{"agencyID":"A07","flightID":318,"passenger":"Once","cabin":"first","seats":1}"#
    let first = await desk.send(.post, "Bookings", id, body)
    let second = await desk.send(.post, "Bookings", id, body)
    #expect(first.status == 201 && second.status == 201, "\(second.text)")
    #expect(first.headers["Location"] == second.headers["Location"])
    #expect(second.headers["Repeatability-Result"] == "accepted")
    #expect(desk.server.rows(of: Booking.self).count == 7)
    let other = await desk.send(
      .post, "Bookings", id,
      #"{"agencyID":"A07","flightID":318,"passenger":"Other","cabin":"first","seats":1}"#)
    #expect(other.status == 412 && other.code == "otherRequest", "\(other.text)")
    let foreign = await desk.send(.post, "Bookings", user: "both", id, body)
    #expect(foreign.status == 412, "\(foreign.text)")
    let tag = try #require((await desk.get("Bookings(1)")).headers["ETag"])
    let change: HTTPHeaders = [
      "Repeatability-Request-ID": "6f2d1f0e-0c1b-4a65-9a0f-2c8f6a3f9d12", "If-Match": tag,
    ]
    for _ in 0..<2 {
      let answer = await desk.send(.patch, "Bookings(1)", change, #"{"seats":2}"#)
      #expect(answer.status == 204 && answer.headers["ETag"] != tag, "\(answer.text)")
    }
    let otherChange = await desk.send(.patch, "Bookings(1)", change, #"{"seats":1}"#)
    #expect(otherChange.status == 412 && otherChange.code == "otherRequest")
    let newTag = try #require((await desk.get("Bookings(1)")).headers["ETag"])
    let deletion: HTTPHeaders = [
      "Repeatability-Request-ID": "6f2d1f0e-0c1b-4a65-9a0f-2c8f6a3f9d13", "If-Match": newTag,
    ]
    for _ in 0..<2 {
      #expect((await desk.send(.delete, "Bookings(1)", deletion)).status == 204)
    }
    #expect((await desk.get("Bookings(1)")).status == 404)
    await desk.server.stop()
  }

  @Test("While the business system is away a write has an address for its result") func away()
    async throws
  {
    let desk = try await TravelDesk()
    desk.server.holdReplays()
    let tag = try #require((await desk.get("Bookings(1)")).headers["ETag"])
    let answer = await desk.send(
      .patch, "Bookings(1)", ["If-Match": tag, "Prefer": "respond-async"], #"{"passenger":"Later"}"#
    )
    #expect(answer.status == 202, "\(answer.text)")
    let place = try #require(answer.headers["Location"])
    #expect((await desk.get(place)).status == 202)
    #expect((await desk.get(place, user: "bob")).status == 404)
    desk.server.releaseReplays()
    var status = 202
    for _ in 0..<100_000 where status == 202 {
      status = (await desk.get(place)).status
      await Task.yield()
    }
    #expect(status == 204)
    #expect((await desk.get("Bookings(1)")).json?["passenger"]?.string == "Later")
    await desk.server.stop()
  }

  @Test("An unknown outcome is told, and not taken for done") func unknown() async throws {
    let desk = try await TravelDesk()
    desk.server.loseAnswers(Booking.self, of: [.update])
    let tag = try #require((await desk.get("Bookings(1)")).headers["ETag"])
    let answer = await desk.send(
      .patch, "Bookings(1)", ["If-Match": tag], #"{"passenger":"Who"}"#)
    #expect(answer.status == 500 && answer.code == "outcomeUnknown", "\(answer.text)")
    await desk.server.stop()
  }

  @Test("Random queries never show a row of others", .timeLimit(.minutes(60))) func nothingForeign()
    async throws
  {
    let desk = try await TravelDesk(mine: 20, others: 20)
    var chance = Chance(state: 7)
    for round in 0..<400 {
      let query = RandomQuery.make(&chance)
      let answer = await desk.get(query, chance.flip() ? ["Prefer": "odata.maxpagesize=3"] : [:])
      #expect(!answer.text.contains("hidden "), "round \(round): \(query)\n\(answer.text)")
      for node in answer.value where node["passenger"] != nil {
        #expect(node["agencyID"] == nil || node["agencyID"]?.string == "A07", "\(query)")
      }
      if query.hasPrefix("Bookings/$count?"), answer.status == 200 {
        #expect((Int(answer.text) ?? .max) <= 20, "round \(round): \(query)")
      }
    }
    await desk.server.stop()
  }
}

/// Chance from a seed.
struct Chance: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
  mutating func flip() -> Bool { Bool.random(using: &self) }
}

/// Addresses that look at bookings from all sides.
enum RandomQuery {
  static func make(_ chance: inout Chance) -> String {
    let paths = [
      "Bookings", "Bookings/$count", "Flights", "Agencies", "Flights(318)/bookings",
      "Agencies('A08')/bookings", "Agencies('A07')/bookings", "Carriers('LH')/flights",
      "Bookings(\(Int.random(in: 1...44, using: &chance)))", "Flights(319)/bookings/$count",
      "Bookings(\(Int.random(in: 1...44, using: &chance)))/flight/bookings",
      "Bookings(\(Int.random(in: 1...44, using: &chance)))/passenger",
    ]
    let path = paths.randomElement(using: &chance) ?? "Bookings"
    let isBooking = path.hasPrefix("Bookings") || path.contains("/bookings")
    let filters =
      isBooking
      ? [
        "contains(passenger,'hidden')", "price gt \(Int.random(in: 90...150, using: &chance))",
        "agencyID eq 'A08'", "agency/city eq 'Ulm'", "flight/bookings/any(b:b/agencyID eq 'A08')",
        "not (agencyID eq 'A07')", "true",
      ]
      : [
        "bookings/any(b:contains(b/passenger,'hidden'))", "bookings/$count gt 3", "true",
        "bookings/all(b:b/agencyID eq 'A08')",
      ]
    let expands =
      isBooking
      ? ["agency", "flight($expand=bookings)", "agency($expand=bookings($expand=flight))", "*"]
      : ["bookings", "*", "bookings($expand=agency;$orderby=price desc)"]
    var options: [String] = []
    if chance.flip() { options.append("$filter=\(filters.randomElement(using: &chance) ?? "")") }
    if chance.flip() { options.append("$expand=\(expands.randomElement(using: &chance) ?? "")") }
    if chance.flip(), isBooking {
      options.append(
        "$orderby=\(["price desc", "passenger", "agency/city"].randomElement(using: &chance) ?? "")"
      )
    }
    if chance.flip() { options.append("$top=\(Int.random(in: 0...30, using: &chance))") }
    if chance.flip() { options.append("$count=true") }
    let query = options.joined(separator: "&")
    return path + (query.isEmpty ? "" : "?" + PercentEncoding.encode(query, keeping: "$=&()',;:/*"))
  }
}
