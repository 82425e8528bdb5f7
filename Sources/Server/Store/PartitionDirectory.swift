import FerrySQLite

/// The numbers of partitions; a partition is made when something belongs to it or asks for it.
final class PartitionDirectory {
  private let store: Store
  private var numbers: [Place: Int64] = [:]
  private var places: [Int64: Place] = [:]

  init(_ store: Store) { self.store = store }

  /// To be called when a transaction that may have made partitions was rolled back.
  func forget() {
    numbers = [:]
    places = [:]
  }

  func number(of place: Place) throws(SQLiteError) -> Int64? {
    if let known = numbers[place] ?? equivalent(to: place) { return known }
    let number = try store.writer.value(
      "SELECT id FROM partition WHERE package = ? AND group_name = ? AND rule = ? AND place = ?",
      .integer(store.packageNumber), .text(place.group.text), .text(place.rule.text),
      .text(place.values.text))?
      .integer
    guard let number else { return nil }
    note(number, place)
    return number
  }

  func number(of place: Place, making transaction: NumberedTransaction) throws(SQLiteError) -> Int64
  {
    if let known = try number(of: place) { return known }
    transaction.hasWritten = true
    try store.writer.run(
      """
      INSERT INTO partition
        (package, group_name, rule, place, version, floor, sum, count, left_count, loaded)
      SELECT id, ?, ?, ?, ?, 0, 0, 0, 0, loaded FROM package WHERE id = ?
      """, .text(place.group.text), .text(place.rule.text), .text(place.values.text),
      .integer(transaction.version), .integer(store.packageNumber))
    let number = store.writer.lastInsertRowID
    note(number, place)
    return number
  }

  func place(of number: Int64) throws(SQLiteError) -> Place? {
    if let known = places[number] { return known }
    let row = try store.writer.row(
      "SELECT group_name, rule, place FROM partition WHERE id = ?", .integer(number))
    guard let row, let group = row[0].text, let rule = row[1].text, let values = row[2].text else {
      return nil
    }
    let place = Place(group: group, rule: rule, values: values)
    note(number, place)
    return place
  }

  /// All places of one rule in one group, in the order of their numbers.
  func places(group: String, rule: String) throws(SQLiteError) -> [Place] {
    try store.writer.rows(
      "SELECT place FROM partition WHERE package = ? AND group_name = ? AND rule = ? ORDER BY id",
      .integer(store.packageNumber), .text(group), .text(rule)
    ).compactMap { row in row[0].text.map { Place(group: group, rule: rule, values: $0) } }
  }

  /// Only with the planted bug `equivalentNames`.
  private func equivalent(to place: Place) -> Int64? {
    guard store.world.has(.equivalentNames) else { return nil }
    return numbers.first { known, _ in
      known.group == place.group && known.rule == place.rule
        && known.values.text == place.values.text
    }?.value
  }

  private func note(_ number: Int64, _ place: Place) {
    numbers[place] = number
    places[number] = place
  }
}
