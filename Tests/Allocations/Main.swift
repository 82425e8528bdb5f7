import Ferry
import FerryModel
import FerryOData
import FerryTestKit
import FerryTravel
import Foundation
import Glibc

/// How often a unit of work takes memory from the heap, one line for each kind of work. For
/// `Scripts/check allocations`, which loads the counter and compares.
@main
enum Main {
  private static let units: Int = 400
  /// What runs beside the work takes memory too, now and then: the least of some rounds is the work.
  private static let rounds: Int = 4

  static func main() async throws {
    guard let counter = Counter() else {
      FileHandle.standardError.write(
        Data("FerryAllocations: no counter is loaded. Run Scripts/check allocations.\n".utf8))
      exit(2)
    }
    var counts = Counts()
    try await circle(counter, &counts)
    try feed(counter, &counts)
    for (name, least) in counts.least {
      print(name, String(format: "%.1f", Double(least) / Double(units)))
    }
  }

  private struct Counts {
    private(set) var least: [(name: String, allocations: Int)] = []

    mutating func note(_ name: String, _ allocations: Int) {
      guard let place = least.firstIndex(where: { $0.name == name }) else {
        return least.append((name, allocations))
      }
      least[place].allocations = min(least[place].allocations, allocations)
    }
  }

  private static func rows(from first: Int) -> [[AttributeValue]] {
    (first..<first + units).map { number in
      [
        .integer(Int64(number)), .text("A07"), .integer(318), .text("Passenger \(number)"),
        .text("economy"), .integer(1), .text("400"), .null, .text("by the window, please"),
      ]
    }
  }

  /// A device and its server in this process, with a business system in memory.
  private static func circle(_ counter: Counter, _ counts: inout Counts) async throws {
    let server = try await TestServer(Travel.package)
    try await server.insert(
      Agency.self, ["agencyID": "A07", "name": "Far", "city": "Bonn", "country": "DE"])
    try await server.insert(
      Carrier.self, ["carrierID": "LH", "name": "Lufthansa", "currency": "EUR"])
    let database = try await server.database(user: "nancy", claims: ["agency": ["A07"]])
    for round in 0...rounds {
      // Nothing comes before it is counted.
      await server.setReachable(false)
      _ = server.business.insert("Booking", rows(from: 1 + round * 10_000))
      try await server.insert(
        Agency.self, ["agencyID": "B\(round)", "name": "New", "city": "Ulm", "country": "DE"])
      let imported = try await counter.during {
        await server.setReachable(true)
        try await database.synchronize()
      }
      let polled = try await counter.during {
        for _ in 0..<units { try await database.synchronize() }
      }
      // Nothing is sent while it is saved and submitted.
      await server.setReachable(false)
      var made: [Booking] = []
      let saved = try counter.during {
        for number in 0..<units { made.append(try save(number, in: database)) }
      }
      for index in made.indices { try made[index].submitPending() }
      let replayed = try await counter.during {
        await server.setReachable(true)
        try await database.synchronize(awaitingAnswers: true)
      }
      guard try await database.status().pendingCount == 0 else {
        throw Unfinished(what: "an operation waits")
      }
      // The first round makes what later ones find.
      guard round > 0 else { continue }
      counts.note("imported-row", imported)
      counts.note("empty-poll", polled)
      counts.note("saved-change", saved)
      counts.note("operation", replayed)
    }
    await server.stop()
  }

  private static func save(_ number: Int, in database: FerryDatabase) throws -> Booking {
    var booking = Booking(
      agencyID: "A07", flightID: 318, passenger: "Grace \(number)", cabin: .economy, seats: 1,
      in: database)
    try booking.create()
    return booking
  }

  private static func feed(_ counter: Counter, _ counts: inout Counts) throws {
    var json = #"{"d":{"results":["#
    for number in 0..<units {
      json += number == 0 ? "" : ","
      json += """
        {"__metadata":{"uri":"http://host/s/Products(\(number))","type":"Shop.Product"},\
        "ID":\(number),"Name":"A name of \(number)","Price":"12.50","Stock":7,"Open":true}
        """
    }
    json += "]}}"
    let bytes = Array(json.utf8)
    for _ in 0..<rounds {
      var entries = 0
      let counted = try counter.during {
        let reader = ODataFeedReader()
        reader.push(bytes)
        reader.finish()
        while try reader.nextEntry() != nil { entries += 1 }
      }
      guard entries == units else { throw Unfinished(what: "\(entries) entries") }
      counts.note("odata-entry", counted)
    }
  }
}

private struct Unfinished: Error {
  let what: String
}

/// The numbers that the library before the C library keeps.
private struct Counter {
  private typealias Count = @convention(c) () -> UInt

  private let all: Count
  private let own: Count

  /// Nil where that library was not loaded.
  init?() {
    guard let all = dlsym(nil, "ferry_allocations"),
      let own = dlsym(nil, "ferry_thread_allocations")
    else { return nil }
    self.all = unsafeBitCast(all, to: Count.self)
    self.own = unsafeBitCast(own, to: Count.self)
  }

  /// Of this thread, where the whole work is done.
  func during(_ body: () throws -> Void) rethrows -> Int {
    let before = own()
    try body()
    return Int(clamping: own() - before)
  }

  /// Of all threads.
  func during(_ body: () async throws -> Void) async rethrows -> Int {
    let before = all()
    try await body()
    return Int(clamping: all() - before)
  }
}
