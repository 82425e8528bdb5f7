import FerrySQLite

/// The numbers of partitions; a partition is made when something belongs to it or asks for it.
final class PartitionDirectory {
  private let store: Store
  private var numbers: [Place: Int64] = [:]
  private var places: [Int64: Place] = [:]
  /// How many are kept in memory; what is over is read again.
  static let limit: Int = 100_000

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

  /// `user`: who asks for it; nil where a row lies in it.
  func number(
    of place: Place, making transaction: NumberedTransaction, for user: String? = nil
  ) throws(SQLiteError) -> Int64 {
    if let known = try number(of: place) { return known }
    transaction.hasWritten = true
    try store.writer.run(
      """
      INSERT INTO partition
        (package, group_name, rule, place, version, floor, sum, count, left_count, loaded, asked_by,
         asked_day)
      SELECT p.id, ?, ?, ?, ?, 0, 0, 0, 0, p.loaded, ?, s.days FROM package AS p, server AS s
      WHERE p.id = ?
      """, .text(place.group.text), .text(place.rule.text), .text(place.values.text),
      .integer(transaction.version), .optional(user), .integer(store.packageNumber))
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

  /// Notes that devices have these today.
  func asked(_ numbers: some Sequence<Int64>) throws(SQLiteError) {
    for number in numbers {
      try store.writer.run(
        """
        UPDATE partition SET asked_day = (SELECT days FROM server)
        WHERE id = ? AND asked_day < (SELECT days FROM server)
        """, .integer(number))
    }
  }

  /// Partitions without a row that `user` has asked for, those asked for longest ago first.
  func empty(askedBy user: String) throws(SQLiteError) -> [Int64] {
    try store.writer.rows(
      """
      SELECT id FROM partition
      WHERE package = ? AND asked_by = ? AND count = 0 AND left_count = 0 ORDER BY asked_day, id
      """, .integer(store.packageNumber), .text(user)
    ).compactMap { $0[0].integer }
  }

  /// Partitions without a row that no device has asked for since `day`.
  func empty(unaskedSince day: Int64) throws(SQLiteError) -> [Int64] {
    try store.writer.rows(
      "SELECT id FROM partition WHERE package = ? AND count = 0 AND asked_day < ? ORDER BY id",
      .integer(store.packageNumber), .integer(day)
    ).compactMap { $0[0].integer }
  }

  /// Removes partitions of which nothing is left, not even a row that left them. A device that comes
  /// back later begins them anew, under another number.
  func remove(_ numbers: [Int64], _ transaction: NumberedTransaction) throws(SQLiteError) {
    for number in numbers {
      transaction.hasWritten = true
      try store.writer.run("DELETE FROM partition WHERE id = ?", .integer(number))
      if let place = places.removeValue(forKey: number) { self.numbers[place] = nil }
    }
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
    if numbers.count >= PartitionDirectory.limit { forget() }
    numbers[place] = number
    places[number] = place
  }
}
