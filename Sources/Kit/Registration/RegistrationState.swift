import FerryJSON
import FerryWorld

/// What is kept of a registration between two starts of an app, in a file that is replaced as a whole.
///
/// The id is written before the server hears of it: an app that ends in between sends the same id
/// again, and nothing is registered twice.
struct RegistrationState: Equatable {
  var connection: String
  /// Whether the server has said that it is registered.
  var isRegistered = false
  /// What an anonymous connection shows with each request.
  var token: String?
  /// The last payload that the app has taken.
  var received: Int64 = 0

  static let mostBytes: Int = 64 << 10

  /// Nil where there is no file.
  static func read(
    _ path: String, _ files: any FileAccess
  ) throws(RegistrationError) -> RegistrationState? {
    let bytes: [UInt8]?
    do throws(FileError) { bytes = try files.read(path, atMost: mostBytes) } catch {
      throw RegistrationError(.stateNotWritable, "\(path) cannot be read: \(error)")
    }
    guard let bytes else { return nil }
    guard let node = try? JSONNode.parse(bytes), let id = node["connection"]?.string, !id.isEmpty
    else {
      throw RegistrationError(
        .stateNotWritable, "\(path) is no file of a registration, or is damaged")
    }
    var state = RegistrationState(connection: id)
    state.isRegistered = node["isRegistered"]?.boolean ?? false
    state.token = node["token"]?.string
    state.received = node["received"]?.integer ?? 0
    return state
  }

  func keep(_ path: String, _ files: any FileAccess) throws(RegistrationError) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("connection", connection)
    writer.field("isRegistered", isRegistered)
    if let token { writer.field("token", token) }
    writer.field("received", received)
    writer.endObject()
    do throws(FileError) {
      let file = try files.create("\(path).new")
      try file.write(writer.bytes)
      try file.finish()
      try files.move("\(path).new", to: path)
    } catch {
      throw RegistrationError(.stateNotWritable, "\(path) cannot be written: \(error)")
    }
  }

  static func remove(_ path: String, _ files: any FileAccess) throws(RegistrationError) {
    do throws(FileError) { try files.remove(path) } catch {
      throw RegistrationError(.stateNotWritable, "\(path) cannot be removed: \(error)")
    }
  }
}
