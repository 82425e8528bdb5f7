import FerryConnector
import FerryModel
import FerrySQLite

/// Reads an arrived content's pieces from wherever a connector works, beside the service's own
/// connection: each piece with a connection of its own, which costs little beside its bytes.
struct ContentFile: Sendable {
  let path: String
  let vfs: String?
  let id: Int64

  func bytes(from offset: Int64) throws(ConnectorError) -> [UInt8] {
    do throws(SQLiteError) {
      let connection = try Connection(path: path, mode: .readOnly, vfs: vfs)
      return try ContentFile.piece(id, at: offset, connection)
    } catch {
      throw ConnectorError(
        "The server's store could not be read: \(error.message)",
        hint: "It is tried again; nothing was done.", isTransient: true)
    }
  }

  /// The rest of the piece in which `offset` lies; empty behind the end.
  static func piece(
    _ id: Int64, at offset: Int64, _ connection: Connection
  ) throws(SQLiteError) -> [UInt8] {
    let row = try connection.row(
      """
      SELECT start, bytes FROM content_piece WHERE content = ? AND start <= ?
      ORDER BY start DESC LIMIT 1
      """, .integer(id), .integer(offset))
    guard let row, let start = row[0].integer, let bytes = row[1].blob else { return [] }
    return Array(bytes.dropFirst(Int(clamping: offset - start)))
  }
}

extension ArrivedContents {
  /// A whole content, for a connector.
  func connectorContent(
    _ reference: BigReference, _ entry: Entry, _ path: String, vfs: String?
  ) -> ConnectorContent {
    let file = ContentFile(path: path, vfs: vfs, id: entry.id)
    return ConnectorContent(reference) { offset, count throws(ConnectorError) in
      Array(try file.bytes(from: offset).prefix(count))
    }
  }
}
