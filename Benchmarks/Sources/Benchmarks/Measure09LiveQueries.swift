import CRawSQLite
import Ferry
import Foundation

extension Measure {
  /// A row changes under 100 live queries of which 5 are concerned; and rows become objects.
  static let liveQueries = Measure(number: 9, name: "live queries, and rows into objects") {
    setting in
    let rows = setting.n(1_000_000, quick: 5_000)
    let path = setting.path("live.db")
    let open = {
      try FerryDatabase.open(
        at: path, package: Item.package, profile: ConnectionProfile(server: "http://127.0.0.1:9"))
    }
    try await open().close()
    setting.say("a device's database of \(rows) rows is made")
    let raw = try RawDatabase(path)
    try DeviceTable(raw).insert(1...Int64(rows), raw)
    let database = try open()
    defer { setting.remove(path) }
    let times = try await changes(setting.n(200, quick: 10) * setting.rounds, database)
    let decoded = setting.n(100_000, quick: 1_000)
    var ours: [Double] = []
    var theirs: [Double] = []
    for _ in setting.eachRound() {
      ours.append(
        try processorSeconds {
          let objects = try Item.findAll(take: decoded, in: database)
          precondition(objects.count == decoded, "\(objects.count) objects are there")
        }
      )
      theirs.append(try processorSeconds { try readByC(decoded, raw) })
    }
    await database.close()
    return [
      Figure(
        9, "100 live queries, 5 concerned, among \(rows) rows", n: times.count, unit: "ms",
        ours: median(times), aim: .atMost(5), p99: percentile99(times)),
      Figure(
        9, "rows into objects", n: decoded, unit: "processor seconds", ours: median(ours),
        limit: median(theirs), of: "C SQLite into structs", aim: .ratioAtMost(1.2)),
    ]
  }

  /// Milliseconds from each save until the five have what they are concerned with.
  private static func changes(_ count: Int, _ database: FerryDatabase) async throws -> [Double] {
    let id = AttributeOf<Item, Int64>("itemID", 0)
    // Ranges of 50 rows each, ten steps apart: a row of the middle is in five of them.
    var iterators: [(first: Int64, iterator: LiveQuery<[Item]>.Iterator)] = []
    for number in 0..<100 {
      let first = Int64(number * 10 + 1)
      let query = Item.live(where: id.isIn(first...(first + 49)), in: database)
      iterators.append((first, query.makeAsyncIterator()))
    }
    for entry in iterators { _ = try await entry.iterator.next() }
    var times: [Double] = []
    for number in 0..<count {
      let key = Int64(405 + number % 100)
      var item = try await Item.load(key: ObjectKey([.integer(key)]), in: database)
      item.name = "changed \(number)"
      let start = ContinuousClock.now
      try item.update()
      for entry in iterators where (entry.first...(entry.first + 49)).contains(key) {
        let items = try await entry.iterator.next() ?? []
        guard items.contains(where: { $0.name == item.name }) else {
          throw Trouble("a live query did not show the change")
        }
      }
      times.append(start.duration(to: .now).seconds * 1_000)
    }
    return times
  }

  /// What a program in C does for objects of its own: numbers and copies of the texts.
  private static func readByC(_ count: Int, _ raw: RawDatabase) throws {
    struct Row {
      var numbers: (Int64, Int64, Int64, Int64)
      var doubles: (Double, Double)
      var texts: (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
      var more: (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
    }
    let names = ItemValues.columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let statement = try raw.prepare("SELECT \(names) FROM \"Item\" ORDER BY _id LIMIT \(count)")
    let handle = statement.handle
    var rows: [Row] = []
    rows.reserveCapacity(count)
    func text(_ column: Int32) -> UnsafeMutablePointer<CChar>? {
      sqlite3_column_text(handle, column).map {
        strdup(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
      }
    }
    while try statement.step() {
      rows.append(
        Row(
          numbers: (
            sqlite3_column_int64(handle, 0), sqlite3_column_int64(handle, 1),
            sqlite3_column_int64(handle, 2), sqlite3_column_int64(handle, 3)
          ),
          doubles: (sqlite3_column_double(handle, 4), sqlite3_column_double(handle, 5)),
          texts: (text(6), text(7)), more: (text(8), text(9))))
    }
    precondition(rows.count == count, "\(rows.count) rows are there")
    for row in rows {
      free(row.texts.0)
      free(row.texts.1)
      free(row.more.0)
      free(row.more.1)
    }
  }
}
