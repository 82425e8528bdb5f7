import Ferry
import FerryModel
import FerryTestKit

/// A small app with one kind of object, and the bugs that an app of this kind may have.
enum Visits {
  static let package = Package(
    name: "Visits", version: "1.0", entities: [Visit.entity],
    groups: [SynchronizationGroup(name: "default")])

  struct Visit: BusinessObject {
    static let entity = Entity(
      name: "Visit", table: "visits",
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "place", column: "place", type: .string, isNullable: false),
      ], key: [0], keyOrigin: .businessSystem, relationships: [],
      operations: [.create, .update, .delete], partition: nil, group: "default")
    var record: ObjectRecord

    init(record: ObjectRecord) { self.record = record }

    init(place: String, in database: FerryDatabase) {
      var record = ObjectRecord(Self.entity, in: database)
      record.set(1, place)
      self.init(record: record)
    }

    var id: Int64 { record.get(0) }
    var place: String { record.get(1) }
  }

  enum Bug {
    /// Without a network it saves the visit again.
    case savesAgain
    /// It deletes what was refused, and tells nobody.
    case deletesRefused
    /// It saves what belongs together in two steps.
    case savesInTwo
  }

  /// Adds a visit and sends it, as a button of the app does.
  static func add(
    _ place: String, in database: FerryDatabase, bug: Bug?, saved: (String) -> Void
  ) async throws {
    try await Visit(place: place, in: database).save()
    saved(place)
    do { try await database.synchronize() } catch {
      guard bug == .savesAgain, error.code == .offline else { throw error }
      try await Visit(place: place, in: database).save()
    }
  }

  /// Adds a visit with the way back, which belongs to it.
  static func addBothWays(_ place: String, in database: FerryDatabase, bug: Bug?) async throws {
    guard bug == .savesInTwo else {
      try await database.transaction { () throws(FerryError) in
        for text in ["to \(place)", "from \(place)"] {
          var visit = Visit(place: text, in: database)
          try visit.save()
        }
      }
      return
    }
    try await Visit(place: "to \(place)", in: database).save()
    try await Visit(place: "from \(place)", in: database).save()
  }

  /// Cleans the list, as a screen of the app does that shows refused visits.
  static func tidy(_ database: FerryDatabase, bug: Bug?) async throws {
    guard bug == .deletesRefused else { return }
    for visit in try await Visit.find(in: database) where visit.replayFailed {
      try await visit.delete()
    }
  }

  /// Declares the app for a simulated test.
  static func declare(_ app: SimulatedApp, bug: Bug?) {
    app.action("add a visit", weight: 3) { device in
      let place = "place \(device.random.number(in: 1...1_000_000))"
      try await add(place, in: device.database, bug: bug) { device.note($0) }
    }
    app.action("add a visit and the way back") { device in
      let place = "place \(device.random.number(in: 1...1_000_000))"
      try await addBothWays(place, in: device.database, bug: bug)
    }
    app.action("tidy the list") { device in try await tidy(device.database, bug: bug) }
    app.invariant("no visit is in the business system twice") { run in
      let places = try run.server.rows(of: Visit.self).map { try $0["place"] as String }
      try run.check(Set(places).count == places.count, "\(places)")
    }
    app.invariant("no visit is there without its way back") { run in
      let places = try run.server.rows(of: Visit.self).map { try $0["place"] as String }
      let ways = places.filter { $0.hasPrefix("to ") }.map { "from" + $0.dropFirst(2) }
      for way in ways { try run.check(places.contains(way), "\(way) is missing: \(places)") }
    }
    app.finalInvariant("every noted visit is there, or waits where it was made") { run in
      var places = try Set(run.server.rows(of: Visit.self).map { try $0["place"] as String })
      for device in run.devices {
        for visit in try await Visit.find(in: device.database) { places.insert(visit.place) }
      }
      for note in run.notes { try run.check(places.contains(note), "\(note) is lost") }
    }
  }
}
