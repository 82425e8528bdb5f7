/// The table of an entity as a device has it, system columns and keys included.
struct DeviceTable {
  /// The attributes' columns, quoted and joined by commas.
  let attributes: String

  init(_ database: RawDatabase) throws {
    let columns = try database.texts("SELECT name FROM pragma_table_info('Item')")
      .compactMap { $0[0] }.filter { !$0.hasPrefix("_") }
    guard columns == ItemValues.columns else { throw Trouble("the table has \(columns)") }
    attributes = columns.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  /// As the device sets its connection.
  static func configure(_ database: RawDatabase, synchronous: String) throws {
    try database.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous); PRAGMA secure_delete = OFF;
      PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 2000
      """)
  }

  /// Inserts an item whose ten values are bound from place 1 on; an import's, or a pending one.
  func statement(_ database: RawDatabase, pending: String = "N") throws -> RawStatement {
    let marks = ItemValues.columns.map { _ in "?" }.joined(separator: ", ")
    return try database.prepare(
      pending == "N"
        ? """
        INSERT INTO "Item" (\(attributes), _partition, _hash) VALUES (\(marks), 1, ?)
        """
        : """
        INSERT INTO "Item" (\(attributes), _pending) VALUES (\(marks), '\(pending)')
        """)
  }

  /// Inserts items as an import does, in one transaction.
  func insert(_ numbers: ClosedRange<Int64>, _ database: RawDatabase) throws {
    let statement = try statement(database)
    try database.execute("BEGIN IMMEDIATE")
    for number in numbers {
      ItemValues.bind(number, to: statement, from: 1)
      statement.bind(number &* 7_046_029_254_386_353_131, 11)
      try statement.run()
    }
    try database.execute("COMMIT")
  }
}
