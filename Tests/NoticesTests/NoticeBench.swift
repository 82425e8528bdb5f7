import Ferry
import FerryCrypto
import FerryHTTP
import FerryJSON
import FerryModel
import FerryNotices
import FerryServer
import FerryTestKit
import FerryText
import FerryTravel
import FerryWorld
import Foundation
import Testing

/// A travel server with both doors for notices, asked as a sender asks over HTTP.
struct NoticeBench {
  let server: TestServer
  let door: NoticeDoor
  let notifications: DCNDoor
  let folder: String

  static let token = String(repeating: "t", count: 32)
  static let shop = String(repeating: "w", count: 32)
  static let secret = String(repeating: "s", count: 32)
  static let webhook = Array("a secret of thirty two bytes ....".utf8)
  static let dcn = "/dcn/HttpAuthDCNServlet"

  init(_ bookings: Int = 3, passwordInAddress: Bool = false) async throws {
    server = try await TestServer(Travel.package)
    try await server.insert(
      Agency.self, ["agencyID": "A07", "name": "Far", "city": "Bonn", "country": "DE"])
    try await server.insert(
      Carrier.self, ["carrierID": "LH", "name": "Lufthansa", "currency": "EUR"])
    try await server.insert(
      Flight.self,
      [
        "flightID": 318, "carrierID": "LH", "number": 400,
        "flightDate": try #require(LocalDate("2026-11-21")),
        "departure": try #require(LocalTime("10:00:00")), "origin": "FRA", "destination": "JFK",
        "price": Decimal(400), "seats": 100, "seatsLeft": 95, "status": "open",
      ])
    for number in 1...max(1, bookings) {
      try await server.insert(
        Booking.self,
        [
          "bookingID": number, "agencyID": "A07", "flightID": 318, "passenger": "p \(number)",
          "cabin": "economy", "seats": 1, "price": Decimal(100 + number),
        ])
    }
    server.addUser("nancy", claims: ["agency": ["A07"]])
    server.addUser("erp", claims: ["agency": ["A07"]], roles: [DCNDoor.role])
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let file = """
      {"senders": [
        {"name": "erp", "token": "\(NoticeBench.token)", "package": "Travel", "entities": ["Booking", "Flight"]},
        {"name": "hub", "secret": "\(NoticeBench.secret)", "package": "Travel"},
        {"name": "shop", "token": "\(NoticeBench.shop)", "package": "Travel", "shape": {
          "entity": "Booking", "key": {"bookingID": "/data/number"}, "rows": "/events",
          "id": "/nr", "deleted": {"at": "/kind", "is": "gone"}, "when": {"at": "/topic", "is": "b"}}},
        {"name": "hook", "secret": "whsec_\(Base64.encode(NoticeBench.webhook))", "package": "Travel"}],
       "versions": {"Travel": {"Flight": "seatsLeft"}}}
      """
    let senders = try NoticeSenders(Array(file.utf8), name: "senders.json")
    door = NoticeDoor(server.notices, senders: senders, folder: folder)
    notifications = DCNDoor(
      server.notices, server.callers, allowsPassword: passwordInAddress)
    // The first load has ended.
    _ = try await values("Booking", "1")
  }

  struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let text: String
    var json: JSONNode? { try? JSONNode.parse(Array(text.utf8)) }
    var outcomes: [String] { (json?.array ?? []).compactMap { $0["outcome"]?.string } }
    var reasons: [String] { (json?.array ?? []).compactMap { $0["reason"]?.string } }
  }

  private static func answer(_ response: HTTPResponse) -> Answer {
    guard case .bytes(let bytes) = response.body else {
      return Answer(status: response.status, headers: response.headers, text: "")
    }
    return Answer(
      status: response.status, headers: response.headers,
      text: String(decoding: bytes, as: UTF8.self))
  }

  func send(
    _ body: String, token: String? = token, type: String = "application/json",
    path: String = "/notices/Travel", _ more: HTTPHeaders = [:]
  ) async -> Answer {
    var request = HTTPRequest(
      method: .post, path: path, headers: more, body: Array(body.utf8))
    request.headers["Content-Type"] = type
    if let token { request.headers["Authorization"] = "Bearer \(token)" }
    if case .refuse(let response) = door.admit(request) { return NoticeBench.answer(response) }
    return NoticeBench.answer(await door.answer(request))
  }

  func dcn(
    _ request: HTTPRequest, user: String? = "erp"
  ) async -> Answer {
    var request = request
    if let user {
      request.headers["Authorization"] = "Basic " + Base64.encode(Array("\(user):any".utf8))
    }
    if case .refuse(let response) = notifications.admit(request) {
      return NoticeBench.answer(response)
    }
    return NoticeBench.answer(await notifications.answer(request))
  }

  /// `messages` as a POST with the parameters in the address.
  func dcn(_ messages: String, user: String? = "erp", path: String = dcn) async -> Answer {
    let body = "{\"pkg\":\"\(Travel.package.id)\",\"messages\":\(messages)}"
    return await dcn(
      HTTPRequest(
        method: .post, path: path, query: "cmd=dcn&package=\(Travel.package.id)&domain=default",
        headers: ["Content-Type": "application/json"], body: Array(body.utf8)), user: user)
  }

  /// The values that devices get, by the names of attributes; nil where there is no such row.
  func values(_ entity: String, _ key: String) async throws -> [String: AttributeValue]? {
    let desk = server.callers
    let position = try #require(
      desk.package.entities.firstIndex { $0.name == entity })
    let caller = try await desk.door.login(
      user: "erp", password: "any", HTTPRequest(method: .get, path: "/"))
    let name = RowName(position, ObjectKey(text: key))
    let row = try await desk.rows([name], for: caller)[name]
    let attributes = desk.package.entities[position].attributes.map(\.name)
    return row.map { Dictionary(zip(attributes, $0.values)) { first, _ in first } }
  }

  /// Until a notice that is not newer by itself is believed: it may have been on its way as long.
  func becomeCalm() async {
    // What the tests have inserted is read once more when the server looks for changes.
    await server.becomeCurrent()
    let body = "{\"entity\":\"Flight\",\"key\":318,\"values\":{\"status\":\"open\"}}"
    // A load that is under way puts all of its rows in doubt once more.
    while await send(body).outcomes != ["taken"] { await server.advance(by: .seconds(121)) }
  }
}
