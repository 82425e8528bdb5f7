import Synchronization

/// The connection templates of the server, from a file that is read again when it changes; any thread.
package final class Templates: Sendable {
  private struct State: Sendable {
    var templates: [ConnectionTemplate] = []
    var mark: FileMark?
  }

  private let path: String?
  private let state = Mutex(State())

  /// None, until `set` gives some.
  package init() { path = nil }

  /// Those of a file; none while there is no file. Throws `badTemplateFile`.
  package init(path: String) throws(ServerError) {
    self.path = path
    _ = try reload()
  }

  package var all: [ConnectionTemplate] { state.withLock { $0.templates } }

  package func named(_ name: String) -> ConnectionTemplate? { all.first { $0.name == name } }

  package func set(_ templates: [ConnectionTemplate]) {
    state.withLock { $0.templates = templates }
  }

  /// Reads the file where it has changed; returns whether it did. Throws `badTemplateFile` once for
  /// each change that cannot be read: the templates of before stay.
  package func reload() throws(ServerError) -> Bool {
    guard let path else { return false }
    let mark = FileMark(path)
    guard mark != state.withLock({ $0.mark }) else { return false }
    state.withLock { $0.mark = mark }
    var read: [ConnectionTemplate] = []
    if mark.isOfFile {
      guard let bytes = Folder.read(path) else {
        throw ServerError(
          .badTemplateFile, "the file of templates \(path) cannot be read",
          hint: "Give the user of the server the right to read it.")
      }
      read = try ConnectionTemplate.read(bytes, name: path)
    }
    set(read)
    return true
  }

  /// The template by which a device is registered that comes for the first time; nil: none matches.
  /// Throws `ambiguousTemplate` where two do.
  func matching(
    package: String, login: ConnectionTemplate.Login
  ) throws(ServerError) -> ConnectionTemplate? {
    let matching = all.filter { $0.matches(package: package, login: login) }
    guard matching.count < 2 else {
      throw ServerError(
        .ambiguousTemplate,
        "the templates \(matching.map(\.name).joined(separator: " and ")) match this device",
        hint: "Ask your administrator to change them so that only one matches.")
    }
    return matching.first
  }
}
