import Ferry
import FerryHTTP
import FerryJSON
import FerryModel
import FerryODataFace
import FerryODataService
import FerryTestKit
import FerryTravel
import Foundation
import Testing

/// A travel server with its face of OData, asked as a client asks over HTTP.
struct TravelDesk {
  let server: TestServer
  let face: ODataFace

  /// Two agencies; nancy works for A07, and sees nothing of A08. All of its texts say "hidden".
  init(
    mine: Int = 3, others: Int = 3, limits: ODataServiceLimits = ODataServiceLimits(),
    shares: FaceShares = FaceShares()
  ) async throws {
    server = try await TestServer(Travel.package)
    try await server.insert(
      Agency.self, ["agencyID": "A07", "name": "Far", "city": "Bonn", "country": "DE"],
      ["agencyID": "A08", "name": "Near", "city": "Ulm", "country": "DE"])
    try await server.insert(
      Carrier.self, ["carrierID": "LH", "name": "Lufthansa", "currency": "EUR"])
    for id in [318, 319] {
      try await server.insert(
        Flight.self,
        [
          "flightID": id, "carrierID": "LH", "number": id + 82,
          "flightDate": try #require(LocalDate("2026-11-21")),
          "departure": try #require(LocalTime("10:00:00")), "origin": "FRA", "destination": "JFK",
          "price": Decimal(400), "seats": 2, "seatsLeft": 2, "status": "open",
        ])
    }
    for number in 0..<max(mine, others) {
      if number < mine {
        try await server.insert(
          Booking.self,
          Self.booking(2 * number + 1, "A07", "own \(number)", flight: 318 + number % 2))
      }
      if number < others {
        try await server.insert(
          Booking.self, Self.booking(2 * number + 2, "A08", "hidden \(number)", flight: 318))
      }
    }
    server.addUser("nancy", claims: ["agency": ["A07"]])
    server.addUser("bob", claims: ["agency": ["A08"]])
    server.addUser("both", claims: ["agency": ["A07", "A08"]])
    server.addUser("nobody")
    face = ODataFace(server.callers, limits: limits, shares: shares)
  }

  private static func booking(
    _ id: Int, _ agency: String, _ passenger: String, flight: Int
  ) -> [String: any AttributeConvertible] {
    [
      "bookingID": id, "agencyID": agency, "flightID": flight, "passenger": passenger,
      "cabin": "economy", "seats": 1, "price": Decimal(100 + id),
    ]
  }

  struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let bytes: [UInt8]
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var json: JSONNode? { try? JSONNode.parse(bytes) }
    var value: [JSONNode] { json?["value"]?.array ?? [] }
    var code: String? { json?["error"]?["code"]?.string }
    func texts(_ name: String) -> [String] { value.compactMap { $0[name]?.string } }
  }

  func get(
    _ address: String, user: String = "nancy", _ headers: HTTPHeaders = [:], face: ODataFace? = nil
  ) async -> Answer {
    await send(.get, address, user: user, headers, face: face)
  }

  func send(
    _ method: HTTPMethod, _ address: String, user: String? = "nancy", _ headers: HTTPHeaders = [:],
    _ body: String = "", type: String = "application/json", face other: ODataFace? = nil
  ) async -> Answer {
    let base = "http://test.invalid"
    var rest = address.hasPrefix(base) ? String(address.dropFirst(base.count)) : address
    if !rest.hasPrefix("/") { rest = "/odata/travel/v4/" + rest }
    let sides = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var headers = headers
    headers["Host"] = "test.invalid"
    if let user {
      headers["Authorization"] = "Basic " + Data("\(user):secret".utf8).base64EncodedString()
    }
    if !body.isEmpty { headers["Content-Type"] = type }
    let request = HTTPRequest(
      method: method, path: String(sides[0]), query: sides.count > 1 ? String(sides[1]) : nil,
      headers: headers, body: Array(body.utf8), peer: "10.0.0.1")
    let response: HTTPResponse
    let face = other ?? face
    switch face.admit(request) {
    case .refuse(let refusal): response = refusal
    case .take, .stream: response = await face.answer(request)
    }
    var bytes: [UInt8] = []
    switch response.body {
    case .bytes(let whole): bytes = whole
    case .stream(let stream):
      while case .bytes(let piece) = await stream.next() { bytes += piece }
    }
    return Answer(status: response.status, headers: response.headers, bytes: bytes)
  }
}
