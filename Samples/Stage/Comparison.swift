import FerryModel
import FerrySQLite
import Foundation

/// Compares the business database, the server's store and the devices row by row.
package struct Comparison {
  /// Whether a device may see a row.
  package typealias Visibility = (Device, Entity, [AttributeValue]) -> Bool

  private let model: Package
  private let database: BusinessDatabase
  private let store: String
  private let devices: [Device]
  private let isVisible: Visibility

  package init(
    package model: Package, database: BusinessDatabase, store: String, devices: [Device],
    isVisible: @escaping Visibility = { _, _, _ in true }
  ) {
    self.model = model
    self.database = database
    self.store = store
    self.devices = devices
    self.isVisible = isVisible
  }

  package struct Line {
    let entity: String
    var counts: [Int] = []
    var rejected = 0
    package fileprivate(set) var differences: [String] = []
  }

  /// Compares until all is equal, as the last changes are still on their way.
  package func settled() throws -> [Line] {
    let deadline = ContinuousClock.now + ChildProcess.patience
    var lines = try compare()
    while lines.contains(where: { !$0.differences.isEmpty }), ContinuousClock.now < deadline {
      usleep(100_000)
      lines = try compare()
    }
    return lines
  }

  /// Tells what is there in the end; false where something differs.
  package func tell(_ narrator: Narrator) throws -> Bool {
    let lines = try settled()
    print(lines, narrator)
    let differences = lines.flatMap(\.differences)
    for difference in differences.prefix(20) { narrator.say("DIFFERENT: \(difference)") }
    let rejected = lines.reduce(0) { $0 + $1.rejected }
    if rejected > 0 {
      narrator.say(
        "\(rejected) rows of the business database hold values that the model cannot take; "
          + "the server leaves them out and says so in its log.")
    }
    narrator.say(
      differences.isEmpty
        ? "Every row is the same, byte for byte." : "\(differences.count) differences.")
    return differences.isEmpty
  }

  private func compare() throws -> [Line] {
    let business = try database.open()
    let server = try Connection(path: store, mode: .readOnly, busyTimeoutMilliseconds: 300_000)
    return try model.entities.map { try compare($0, business, server) }
  }

  private func compare(
    _ entity: Entity, _ business: BusinessConnection, _ server: Connection
  ) throws
    -> Line
  {
    var line = Line(entity: entity.name)
    let (rows, rejected) = try business.all(entity)
    line.rejected = rejected
    line.counts.append(rows.count)
    let expected = rows.mapValues(RowCoder.encode)
    var stored: KeyedRows = [:]
    for row in try server.rows(
      """
      SELECT row.key, row.body FROM row JOIN entity ON entity.id = row.entity
      WHERE entity.name = ? AND row.deleted = 0
      """, [.text(entity.name)])
    {
      stored[row[0].text ?? ""] = row[1].blob ?? row[1].text.map { Array($0.utf8) } ?? []
    }
    line.counts.append(stored.count)
    line.differences += differences(entity, expected, stored, "the server")
    for device in devices {
      var shown: KeyedRows = [:]
      let types = entity.attributes.map(\.type)
      for row in try device.dump(entity) {
        shown[entity.key(of: try RowCoder.decode(row, types: types)).text] = row
      }
      line.counts.append(shown.count)
      let own = expected.filter { key, _ in
        rows[key].map { isVisible(device, entity, $0) } ?? false
      }
      line.differences += differences(entity, own, shown, device.name)
    }
    return line
  }

  private func differences(
    _ entity: Entity, _ expected: KeyedRows, _ found: KeyedRows, _ place: String
  ) -> [String] {
    guard expected != found else { return [] }
    let keys = Set(expected.keys).union(found.keys).sorted()
    return keys.compactMap { key in
      guard expected[key] != found[key] else { return nil }
      return "\(entity.name) \(key): the business has \(text(expected[key])), "
        + "\(place) has \(text(found[key]))"
    }
  }

  private func text(_ row: [UInt8]?) -> String {
    row.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
  }

  private func print(_ lines: [Line], _ narrator: Narrator) {
    let head = ["", "business", "server"] + devices.map(\.name)
    var table = [head]
    for line in lines { table.append([line.entity] + line.counts.map(String.init)) }
    let sums = lines.first.map { $0.counts.indices } ?? 0..<0
    table.append(
      ["all rows"] + sums.map { index in String(lines.reduce(0) { $0 + $1.counts[index] }) })
    let widths = head.indices.map { column in table.map { $0[column].count }.max() ?? 0 }
    for row in table {
      let cells = row.enumerated().map { column, cell in
        let blanks = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 ? cell + blanks : blanks + cell
      }
      narrator.say(cells.joined(separator: "  "))
    }
  }
}
