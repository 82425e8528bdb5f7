/// What a file is, by its first bytes; it is not opened as a database.
public enum FileKind: Sendable, Equatable {
  /// No file, an empty one, or one that a crash has torn before it held anything.
  case nothing
  case plain
  /// Sealed by Ferry, also where the seal was damaged.
  case sealed
  case other

  /// Throws where the file cannot be read.
  public static func of(_ path: String, vfs: String? = nil) throws(SQLiteError) -> FileKind {
    switch try FileLook(path, vfs: vfs).file {
    case .missing, .unfinished: .nothing
    case .plain: .plain
    case .sealed, .damaged: .sealed
    case .foreign: .other
    }
  }
}
