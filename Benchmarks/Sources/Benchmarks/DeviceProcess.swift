import Foundation

/// `ferry-device`: a device with a database, in a process of its own.
final class DeviceProcess: Sendable {
  let child: Child
  let database: String

  init(_ server: Server, _ setting: Setting, name: String) throws {
    database = setting.path("\(name).db")
    let model = setting.path("device-model.json")
    try Data(Item.model.utf8).write(to: URL(filePath: model))
    child = try Child("\(setting.programs)/ferry-device", [model, database, server.address])
    try perform(#"["login", "anna", "\#(Server.password)"]"#)
  }

  /// Performs a command and waits for its end.
  @discardableResult
  func perform(_ command: String, within limit: Double = 300) throws -> String {
    try child.type(command)
    let line = try child.line(within: limit) { $0.hasPrefix("{\"ok\"") }
    guard line.hasPrefix("{\"ok\":true") else { throw Trouble("\(command): \(line)") }
    return line
  }

  /// Ends it and removes its database.
  func end(_ setting: Setting) {
    child.end()
    setting.remove(database)
  }
}
