import FerrySQLite

@testable import Ferry

extension Store {
  /// How many steps SQLite's machine makes for it on the writer: the same on every machine.
  func machineSteps(of body: () throws -> Void) throws -> Int {
    let count = { () throws in
      try self.writer.withConnection(closed: Store.closed("")) { connection throws(FerryError) in
        connection.machineSteps
      }
    }
    let before = try count()
    try body()
    return try count() - before
  }
}
