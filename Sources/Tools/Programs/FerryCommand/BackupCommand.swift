import FerryArguments
import FerryJSON
import FerrySQLiteStore
import Foundation

/// `ferry backup`: a copy of a server while it runs.
enum BackupCommand: Subcommand {
  static let name = "backup"
  static let summary = "copy a server's data folder while the server runs"
  static let operands = "<backup> --data <folder> [--json]"
  static let options = [
    CommandOption("data", "FOLDER", "the server's data folder; the server may be running"), .json,
  ]
  static let discussion = """
    The backup is a new folder. It has the store as it was at one moment, the keys, the users and
    the deployed packages. Anybody who can read it can read every row and log in as any user: protect
    it like the data folder. The command reads the files of this machine and asks no server, so it has
    no --server. The backup does not have the models that --model names, and not the business
    databases. Copy a store in PostgreSQL with pg_dump.

    Example: ferry backup /backups/ferry-2026-11-25 --data data
    Exit codes: 0 the backup is complete and on the disk; 1 no backup was made; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let path = try arguments.operands("backup")[0]
    let data = try arguments.required("data", "data")
    let (backup, store) = try Backup.make(of: data, at: path, progress: CopyProgress("copied"))
    let bytes = backup.files.reduce(0) { $0 + $1.bytes }
    if arguments.flag("json") {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("backup", path)
      writer.field("made", backup.made.milliseconds)
      writer.field("server", store.server)
      writer.field("bytes", bytes)
      writer.key("packages")
      writer.array(store.packages) { $0.string($1.name) }
      writer.endObject()
      Terminal.show(writer.text, asJSON: true)
    } else {
      Terminal.show(
        "\(path): \(store.packages.map(\.name).joined(separator: ", ")), "
          + Terminal.counted(backup.files.count, "file", "files") + ", \(bytes >> 10) KB")
    }
    return .success
  }
}

/// `ferry restore`: a data folder from a backup.
enum RestoreCommand: Subcommand {
  static let name = "restore"
  static let summary = "make a server's data folder from a backup"
  static let operands = "<backup> --data <folder> [options]"
  static let options = [
    CommandOption("data", "FOLDER", "the new data folder; it must not exist, or be empty"),
    CommandOption(
      "model", "FILE", "restore nothing if the backup does not have the package of this model"),
    .json,
  ]
  static let discussion = """
    Every byte of the backup is checked. Devices take the server that starts on the folder for the
    old one: they stay logged in. At their next connection devices notice the restore. They download
    their data again and send again the changes that the backup does not have. No change is performed
    twice in the business system.
    Stop the old server first, and never start it again: devices cannot distinguish two servers with
    the same identity.

    Example: ferry restore /backups/ferry-2026-11-25 --data data
    Exit codes: 0 the folder is complete and on the disk; 1 nothing was made; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let path = try arguments.operands("backup")[0]
    let data = try arguments.required("data", "data")
    let backup = try Backup(reading: path)
    let model = try arguments.value("model").map(ModelFile.read)
    let store = try backup.restore(to: data, progress: CopyProgress("restored")) { store in
      if let model { try store.check(model) }
    }
    if arguments.flag("json") {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("data", data)
      writer.field("made", backup.made.milliseconds)
      writer.field("server", store.server)
      writer.key("packages")
      writer.array(store.packages) { $0.string($1.name) }
      writer.endObject()
      Terminal.show(writer.text, asJSON: true)
    } else {
      let names = store.packages.map(\.name).joined(separator: ", ")
      let made = Date(timeIntervalSince1970: Double(backup.made.milliseconds) / 1_000)
      Terminal.show(
        """
        Restored into \(data): \(names), as of \(made.formatted(.iso8601)), \
        \(Terminal.counted(backup.files.count, "file", "files")).
        Next: start `ferryd --data \(data)` with the other options of the old server, such as \
        --model and --users. Never start the old server again.
        """)
    }
    return .success
  }
}
