import Ferry
import FerryHTTP
import FerryJSON
import FerryModel
import FerryODataFace
import FerryODataService
import FerryServer
import FerryTestKit
import FerryTravel
import Testing

@Suite("Changes of a package's rows since a program read them", .timeLimit(.minutes(60)))
struct DeltaTests {
  private static let follow: HTTPHeaders = ["Prefer": "odata.track-changes"]

  private func link(_ answer: TravelDesk.Answer) throws -> String {
    try #require(answer.json?["@odata.deltaLink"]?.string, "\(answer.text)")
  }

  private func change(
    _ desk: TravelDesk, _ id: Int, user: String, _ body: String
  ) async throws {
    let tag = try #require((await desk.get("Bookings(\(id))", user: user)).headers["ETag"])
    let answer = await desk.send(
      .patch, "Bookings(\(id))", user: user, ["If-Match": tag], body)
    #expect(answer.status == 204, "\(answer.text)")
  }

  @Test("Changes come once, and none of a row of others") func changes() async throws {
    let desk = try await TravelDesk()
    let first = await desk.get("Bookings", Self.follow)
    #expect(first.value.count == 3, "\(first.text)")
    try await change(desk, 1, user: "nancy", #"{"passenger":"Grace"}"#)
    try await change(desk, 2, user: "bob", #"{"passenger":"hidden still"}"#)
    let tag = try #require((await desk.get("Bookings(3)")).headers["ETag"])
    #expect((await desk.send(.delete, "Bookings(3)", ["If-Match": tag])).status == 204)
    let answer = await desk.get(try link(first))
    #expect(answer.texts("passenger") == ["Grace"], "\(answer.text)")
    #expect(
      answer.texts("id") == ["http://test.invalid/odata/travel/v4/Bookings(3)"], "\(answer.text)")
    #expect(!answer.text.contains("hidden"))
    let after = await desk.get(try link(answer))
    #expect(after.status == 200 && after.value.isEmpty, "\(after.text)")
    await desk.server.stop()
  }

  @Test("A row that moves to another user is deleted for the one and new for the other")
  func moves() async throws {
    let desk = try await TravelDesk()
    let mine = try link(await desk.get("Bookings", Self.follow))
    let others = try link(await desk.get("Bookings", user: "bob", Self.follow))
    let both = try link(await desk.get("Bookings", user: "both", Self.follow))
    try await change(desk, 1, user: "both", #"{"agencyID":"A08","passenger":"hidden mover"}"#)
    let left = await desk.get(mine)
    #expect(left.texts("reason") == ["deleted"] && left.value.count == 1, "\(left.text)")
    #expect(!left.text.contains("hidden") && !left.text.contains("A08"))
    #expect((await desk.get(others, user: "bob")).texts("passenger") == ["hidden mover"])
    let seen = await desk.get(both, user: "both")
    #expect(seen.texts("passenger") == ["hidden mover"] && seen.value.count == 1, "\(seen.text)")
    await desk.server.stop()
  }

  @Test("A token of another user or query, a changed one and one after lost rights are 410")
  func tokens() async throws {
    let desk = try await TravelDesk()
    let mine = try link(await desk.get("Bookings", Self.follow))
    try await change(desk, 1, user: "nancy", #"{"passenger":"secret"}"#)
    var last = mine
    last.removeLast()
    for (address, user) in [
      (mine, "bob"), (mine, "both"), (mine.replacing("Bookings", with: "Flights"), "nancy"),
      (mine + "&$filter=seats%20gt%200", "nancy"),
      (last + (mine.hasSuffix("0") ? "1" : "0"), "nancy"),
      ("Bookings?$deltatoken=x", "nancy"),
    ] {
      let answer = await desk.get(address, user: user)
      #expect(answer.status == 410 && answer.code == "deltaTokenGone", "\(answer.text)")
      #expect(answer.headers["Location"]?.contains("/odata/travel/v4/") == true)
      #expect(!answer.text.contains("secret"))
    }
    let both = try link(await desk.get("Bookings", user: "both", Self.follow))
    desk.server.addUser("both", claims: ["agency": ["A08"]])
    #expect((await desk.get(both, user: "both")).status == 410)
    // New rights bring their rows.
    desk.server.addUser("nancy", claims: ["agency": ["A07", "A08"]])
    let more = await desk.get(mine)
    #expect(more.value.count == 4, "\(more.text)")
    await desk.server.stop()
  }

  @Test("A token of a history that is not there is lost, and one change costs one")
  func eras() async throws {
    let desk = try await TravelDesk()
    let mine = try link(await desk.get("Bookings", Self.follow))
    let (callers, request) = (desk.server.callers, HTTPRequest(method: .get, path: "/"))
    let nancy = try await callers.door.login(user: "nancy", password: "secret", request)
    let bookings = try #require(callers.package.entities.firstIndex { $0.name == "Booking" })
    let mark = try #require(try await callers.mark(of: bookings, for: nancy))
    for lost in [
      CallerMark(era: "another", version: mark.version, partitions: mark.partitions),
      CallerMark(era: mark.era, version: mark.version + 1_000, partitions: mark.partitions),
    ] {
      let found = try await callers.changes(of: bookings, for: nancy, since: lost, limit: 100)
      guard case .lost(.history) = found else {
        Issue.record("a lost history gave \(found)")
        continue
      }
    }
    try await change(desk, 1, user: "nancy", #"{"passenger":"Grace"}"#)
    // One change costs one, whatever else there is.
    guard
      case .changed(let keys, _) = try await callers.changes(
        of: bookings, for: nancy, since: mark, limit: 1)
    else {
      Issue.record("one change is too many")
      return
    }
    #expect(keys.count == 1)
    // Another face of the same server has the same key.
    let after = await desk.get(mine, face: ODataFace(desk.server.callers))
    #expect(after.texts("passenger") == ["Grace"], "\(after.text)")
    await desk.server.stop()
  }
}
