import FerrySQLite
import FerryServer
import FerryWire

extension DeviceReport {
  /// Reads a data folder without disturbing a server that may be working on it; the last ones,
  /// oldest first.
  package static func read(
    folder: String, _ question: Question
  ) throws(ServerError) -> [DeviceReport] {
    try MoveMark.requireNone(in: folder)
    let path = "\(folder)/server.sqlite"
    do {
      let connection = try Connection(path: path, mode: .readOnly)
      let levels = question.levels.map { "'\($0)'" }.joined(separator: ", ")
      return try connection.rows(
        """
        SELECT p.name, r.device, r.user, r.record, r.number FROM report AS r
        JOIN package AS p ON p.id = r.package
        WHERE r.level IN (\(levels)) AND coalesce(r.user = ?1, true)
          AND coalesce(r.device = ?2, true) AND coalesce(r.record ->> 'component' = ?3, true)
          AND coalesce(r.id = ?5, true)
        ORDER BY r.number DESC LIMIT ?4
        """, .optional(question.user), .optional(question.device),
        .optional(question.component), .integer(Int64(question.take)),
        .optional(question.id?.text)
      ).reversed().compactMap { row in
        guard let text = row[3].text, let record = try? LogRecord(json: Array(text.utf8)) else {
          return nil
        }
        return DeviceReport(
          number: row[4].integer ?? 0, package: row[0].text ?? "", device: row[1].text ?? "",
          user: row[2].text ?? "",
          record: record)
      }
    } catch  where error.isCannotOpen {
      throw .noStore(in: folder)
    } catch {
      throw ServerError(StoreError(error), store: path)
    }
  }
}
