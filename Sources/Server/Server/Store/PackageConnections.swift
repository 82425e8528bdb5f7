import FerryJSON
import FerryModel

/// The connections to business systems that the entities of a package name. Each is loaded, asked for
/// changes, and replayed by itself.
package struct PackageConnections: Sendable {
  /// In the order of the model, at least one; nil is the default one.
  package let names: [String?]
  private let positions: [String: Int]

  package init(_ package: Package) {
    var names: [String?] = []
    var positions: [String: Int] = [:]
    for entity in package.served.entities {
      if let known = names.firstIndex(of: entity.connection) {
        positions[entity.name] = known
      } else {
        positions[entity.name] = names.count
        names.append(entity.connection)
      }
    }
    self.names = names.isEmpty ? [nil] : names
    self.positions = positions
  }

  package var count: Int { names.count }
  package var areSeveral: Bool { names.count > 1 }

  /// Which connection has the rows of an entity.
  package func position(of entity: String) -> Int { positions[entity] ?? 0 }

  /// Those of the entities, in their order, that a connection has.
  package func entities(_ all: [Entity], of connection: Int) -> [Entity] {
    areSeveral ? all.filter { position(of: $0.name) == connection } : all
  }

  /// What the lines of the log say of it: nothing where there is only one.
  func fields(_ connection: Int) -> [(String, String)] {
    areSeveral ? [("connection", shown(connection))] : []
  }

  /// As `/health` and the log name it.
  package func shown(_ connection: Int) -> String { names[connection] ?? "default" }
}

/// The places up to which the changes of each connection were followed, as the one text that the store
/// keeps.
struct SourceCursors {
  private var texts: [String?]
  private let connections: PackageConnections
  /// Of a package with one connection the text is the cursor itself.
  private static let mark = "connections:"

  init(_ text: String?, _ connections: PackageConnections) {
    self.connections = connections
    texts = Array(repeating: nil, count: connections.count)
    guard let text else { return }
    guard text.hasPrefix(SourceCursors.mark) else {
      // Of which of several connections it is nobody knows: they are loaded.
      if !connections.areSeveral { texts[0] = text }
      return
    }
    guard let root = try? JSONNode.parse(Array(text.dropFirst(SourceCursors.mark.count).utf8))
    else { return }
    for (index, name) in connections.names.enumerated() { texts[index] = root[name ?? ""]?.string }
  }

  subscript(connection: Int) -> String? {
    get { texts[connection] }
    set { texts[connection] = newValue }
  }

  /// Nil while there is none.
  var text: String? {
    guard connections.areSeveral else { return texts[0] }
    guard texts.contains(where: { $0 != nil }) else { return nil }
    var writer = JSONWriter()
    writer.beginObject()
    for (name, text) in zip(connections.names, texts) {
      if let text { writer.field(name ?? "", text) }
    }
    writer.endObject()
    return SourceCursors.mark + writer.text
  }
}
