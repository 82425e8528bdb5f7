import FerryGenerator
import FerryJSON
import FerryPostgreSQL
import FerryPostgreSQLStore
import FerrySQLiteStore
import FerryServer
import FerryWorld
import Foundation

/// A server's store on its way from the file of a data folder into PostgreSQL.
struct Move {
  private let data: String
  private let source: MovingStore

  /// Holds the folder: no server runs on it meanwhile.
  init(_ data: String) throws {
    self.data = data
    source = try MovingStore(folder: data)
  }

  var server: String { source.facts.server }
  var packages: [String] { source.packages }

  /// Copies everything in one transaction, and compares the number of rows of each table before it
  /// ends. Returns these numbers.
  func run(
    to address: PostgreSQLAddress, progress: CopyProgress
  ) throws -> [(table: String, rows: Int64)] {
    if let mark = source.mark, mark.store != address.text {
      throw CommandError(
        "the store in \(data) was moved to \(mark.store)",
        hint: "Go back to it first: ferry move --undo --data \(data)")
    }
    let target = ArrivingStore(address)
    var counts: [(table: String, rows: Int64)] = []
    for table in StoreTable.all { counts.append((table.name, try source.count(table))) }
    let total = counts.reduce(0) { $0 + $1.rows }
    try target.begin(source.facts, World.system())
    // Before the first row: whenever this program dies, no server starts on what may be a copy.
    try source.keep(MoveMark(isComplete: false, store: address.text))
    var done: Int64 = 0
    for table in StoreTable.all {
      try source.read(table) { columns, count in
        try target.write(table, columns, count)
        done += Int64(count)
        progress.tell(Int(done), of: Int(total))
      }
    }
    for model in try deployed() { try target.keep(model) }
    for (table, count) in zip(StoreTable.all, counts) {
      let arrived = try target.count(table)
      guard arrived == count.rows else {
        throw CommandError(
          "\(count.rows) rows of the table \(count.table) were read, and \(arrived) arrived",
          hint: "Nothing was moved. Look at the log of PostgreSQL and try again.")
      }
    }
    try target.commit(source.facts)
    try source.keep(MoveMark(isComplete: true, store: address.text))
    return counts
  }

  /// The models that were deployed into the folder.
  private func deployed() throws -> [DeployedModel] {
    let folder = "\(data)/packages"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return try names.filter { $0.hasSuffix(".json") }.sorted().map { name in
      let node = try JSONNode.parse(try TextFile.read("\(folder)/\(name)"))
      guard let package = node["package"]?.string, let model = node["model"]?.string,
        let database = node["database"]?.string
      else {
        throw CommandError(
          "the deployed package \(folder)/\(name) cannot be read",
          hint: "Remove the file, and deploy the package again after the move.")
      }
      guard node["policies"] == nil else {
        throw CommandError(
          "\(package) was deployed with policies, and a store in PostgreSQL keeps none",
          hint: "Deploy it without --policies first, or serve it with --model.")
      }
      return DeployedModel(
        package: package, model: Array(model.utf8), database: database,
        mapping: node["mapping"]?.string.map { Array($0.utf8) })
    }
  }

  /// The folder's store is the server's again. Returns the address of the copy that stays; nil where
  /// nothing has arrived there.
  func undo(isForced: Bool) throws -> String? {
    guard let mark = source.mark else {
      throw CommandError(
        "the store in \(data) was not moved", hint: "Start ferryd on it as before.")
    }
    if mark.isComplete, !isForced {
      let target = ArrivingStore(try PostgreSQLAddress(mark.store))
      guard try target.find(source.facts) != .served else {
        throw CommandError(
          "a server has run on the store that was moved to \(mark.store)",
          hint:
            "What devices sent since then is only there. Stop that server and add --force to go "
            + "back without it; devices keep what has no answer yet.")
      }
    }
    if mark.isComplete {
      // First: at no time may servers start on both.
      do { try ArrivingStore(try PostgreSQLAddress(mark.store)).markUndone() } catch  where isForced
      {
        Terminal.error(
          "Warning: the copy in \(mark.store) could not be marked (\(error)). Never start a "
            + "server on it.")
      }
    }
    try source.removeMark()
    return mark.isComplete ? mark.store : nil
  }
}
