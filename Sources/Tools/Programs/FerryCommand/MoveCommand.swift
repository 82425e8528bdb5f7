import FerryArguments
import FerryJSON
import FerryPostgreSQL

/// `ferry move`: the store of a server goes from its folder into PostgreSQL, and back.
enum MoveCommand: Subcommand {
  static let name = "move"
  static let summary = "move a server's store from its folder into PostgreSQL"
  static let operands = "--data <folder> --to postgres:DATABASE | --undo [options]"
  static let options = [
    CommandOption("data", "FOLDER", "the server's data folder; the server must be stopped"),
    CommandOption("to", "ADDRESS", "the database that gets the schema ferry_store"),
    CommandOption("undo", nil, "go back to the store in the folder, which the move has kept"),
    CommandOption("force", nil, "with --undo: although a server has run on the moved store"),
    .json,
  ]
  static let discussion = """
    All rows arrive in one transaction, and the number of rows of each table is compared before it
    ends. If it is interrupted the database has nothing, and the same command begins again. The old
    store stays in the folder, and no ferryd starts on it until the move is undone.
    Devices stay logged in, keep their pending changes and download nothing again.

    Example: ferry move --data data --to 'postgres:host=db.example dbname=ferry'
             ferryd --data data --model shop.json --store 'postgres:host=db.example dbname=ferry'
             ferry move --undo --data data
    Exit codes: 0 done; 1 it could not be done, and the old store is as it was; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    _ = try arguments.operands()
    let data = try arguments.required("data", "data")
    if arguments.flag("undo") {
      guard try arguments.value("to") == nil else {
        throw UsageError("--undo and --to exclude each other", hint: "Leave out one of them.")
      }
      try undo(data, arguments)
      return .success
    }
    guard !arguments.flag("force") else {
      throw UsageError("--force is for --undo", hint: "Leave it out.")
    }
    let text = try arguments.required("to", "postgres:DATABASE")
    let address: PostgreSQLAddress
    do throws(PostgreSQLError) { address = try PostgreSQLAddress(text) } catch {
      throw UsageError("--to: \(error.message)", hint: error.hint)
    }
    let move = try Move(data)
    let clock = ContinuousClock.now
    let counts = try move.run(to: address, progress: CopyProgress("moved"))
    let seconds = (ContinuousClock.now - clock) / .seconds(1)
    show(move, address, counts, seconds, data, arguments)
    return .success
  }

  private static func show(
    _ move: Move, _ address: PostgreSQLAddress, _ counts: [(table: String, rows: Int64)],
    _ seconds: Double, _ data: String, _ arguments: Arguments
  ) {
    let rows = counts.reduce(0) { $0 + $1.rows }
    guard arguments.flag("json") else {
      let packages = move.packages.joined(separator: ", ")
      Terminal.show(
        """
        \(packages): \(Terminal.counted(Int(rows), "row", "rows")) of \(counts.count) tables were \
        moved and counted.
        Start ferryd with --data \(data) --store '\(address.text)'. The old store is kept in \(data); \
        `ferry move --undo --data \(data)` goes back to it.
        """)
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("data", data)
    writer.field("store", address.text)
    writer.field("server", move.server)
    writer.key("packages")
    writer.array(move.packages) { $0.string($1) }
    writer.field("rows", rows)
    writer.field("milliseconds", Int64(seconds * 1_000))
    writer.key("tables")
    writer.beginObject()
    for count in counts { writer.field(count.table, count.rows) }
    writer.endObject()
    writer.endObject()
    Terminal.show(writer.text, asJSON: true)
  }

  private static func undo(_ data: String, _ arguments: Arguments) throws {
    let copy = try Move(data).undo(isForced: arguments.flag("force"))
    guard arguments.flag("json") else {
      Terminal.show(
        "ferryd uses the store in \(data) again."
          + (copy.map {
            " The copy in \($0) stays; `DROP SCHEMA ferry_store CASCADE` removes it there."
          } ?? ""))
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("data", data)
    writer.field("copy", copy)
    writer.endObject()
    Terminal.show(writer.text, asJSON: true)
  }
}
