import FerryMariaDB

/// What the catalogue says of a table that is served and of its triggers.
struct CaptureState {
  /// Of all that a change without an entry would alter.
  let digest: String
  /// Why changes of the table may be missing among the entries; nil where none is.
  let trouble: String?

  /// By the name of the table.
  static func read(
    _ names: Set<String>, _ connection: MariaDBConnection
  ) throws(MariaDBError) -> [String: CaptureState] {
    let found = try connection.rows(
      """
      SELECT event_object_table, COUNT(*), SUM(CRC32(CONCAT(trigger_name, action_statement))),
        MAX(created)
      FROM information_schema.triggers
      WHERE trigger_schema = DATABASE() AND trigger_name LIKE 'ferry|_%' ESCAPE '|' GROUP BY 1
      """)
    var triggers: [String: [String]] = [:]
    for row in found.texts { triggers[row[0] ?? ""] = row.map { $0 ?? "" } }
    var files: [String: String] = [:]
    for name in names { files[name] = try file(name, connection) }
    return Dictionary(
      uniqueKeysWithValues: names.map { name in
        let made = triggers[name] ?? []
        let state = (made.dropFirst() + [files[name] ?? ""]).joined(separator: " ")
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in state.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let trouble =
          made.count > 1 && made[1] == "3"
          ? nil
          : "has not all triggers of Ferry, or this user has not the right TRIGGER to see them"
        return (name, CaptureState(digest: String(hash, radix: 16), trouble: trouble))
      })
  }

  /// TRUNCATE fires no trigger, and makes the table a new file: who has the right PROCESS sees that.
  /// Others see only that the table is empty.
  private static func file(
    _ name: String, _ connection: MariaDBConnection
  ) throws(MariaDBError) -> String {
    let place = "CONCAT(DATABASE(), '/', \(quotedText(name)))"
    do throws(MariaDBError) {
      let file = try connection.value(
        """
        SELECT GROUP_CONCAT(table_id ORDER BY table_id)
        FROM information_schema.\(connection.isMariaDB ? "innodb_sys_tables" : "innodb_tables")
        WHERE name = \(place) OR name LIKE CONCAT(\(place), '#P#%')
        """)
      if let file { return file }
    } catch  where error.number == 1_227 || error.number == 1_109 {
      // Without the right.
    }
    return try connection.value("SELECT EXISTS (SELECT 1 FROM \(quotedName(name)))") ?? ""
  }
}
