import FerryModel
import Testing

/// Compares what the business database, the server's store and devices hold, row by row.
enum Shores {
  /// Waits until all are equal; what differs at the end of the time is an issue of the test.
  ///
  /// `belongs` tells which rows a device of that user must have.
  static func agree(
    _ business: Business, _ daemon: Daemon, _ phones: [Phone],
    belongs: (String, [AttributeValue]) -> Bool
  ) async throws {
    try await agree(business, server: { try daemon.rows() }, phones, belongs: belongs)
  }

  /// The same, with the rows of a store that is no file of a daemon.
  static func agree(
    _ business: Business, server: () async throws -> Rows, _ phones: [Phone],
    belongs: (String, [AttributeValue]) -> Bool
  ) async throws {
    var differences: [String] = []
    do {
      try await until("the shores agree") {
        differences = try await compare(business, server: server, phones, belongs: belongs)
        return differences.isEmpty
      }
    } catch let failure as WayFailure {
      Issue.record("\(failure): \(differences.prefix(10).joined(separator: "\n"))")
    }
  }

  static func compare(
    _ business: Business, server: () async throws -> Rows, _ phones: [Phone],
    belongs: (String, [AttributeValue]) -> Bool
  ) async throws -> [String] {
    let truth = try business.rows()
    var differences = differ("server", truth, try await server())
    var mine: Rows = [:]
    for entity in business.package.entities {
      let types = entity.attributes.map(\.type)
      mine[entity.name] = try (truth[entity.name] ?? [:]).filter { _, text in
        belongs(entity.name, try RowCoder.decode(Array(text.utf8), types: types))
      }
    }
    guard differences.isEmpty else { return differences }
    for phone in phones {
      differences += differ(phone.database, mine, try await phone.rows(business.package))
    }
    return differences
  }

  private static func differ(_ who: String, _ expected: Rows, _ actual: Rows) -> [String] {
    var differences: [String] = []
    for (entity, rows) in expected {
      let others = actual[entity] ?? [:]
      for (key, row) in rows where others[key] != row {
        differences.append("\(who): \(entity) \(key) is \(others[key] ?? "missing"), not \(row)")
      }
      for key in others.keys where rows[key] == nil {
        differences.append("\(who): \(entity) \(key) should not be there")
      }
    }
    return differences
  }

  /// Rows of the first agency, and all that everyone has.
  static func firstAgency(_ business: Business) -> (String, [AttributeValue]) -> Bool {
    let position = business.package.entity(named: "Bookings")?.position(of: "agencyID")
    return { entity, values in
      guard entity == "Bookings", let position else { return true }
      return values[position] == .text("AG-01")
    }
  }
}
