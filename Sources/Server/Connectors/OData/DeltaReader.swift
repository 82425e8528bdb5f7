import FerryConnector
import FerryModel
import FerryOData
import FerryODataAddress
import FerryODataClient

/// Where the changes of each set are, as the service named it. It is the cursor of a connection.
struct DeltaLinks: Sendable, Equatable {
  /// By the name of a set.
  private(set) var links: [String: String] = [:]

  init() {}

  /// Takes what `text` gave; nothing where the text is of somebody else.
  init(_ text: String?) {
    guard let lines = text?.split(separator: "\n"), lines.first.map(String.init) == Self.head
    else { return }
    for line in lines.dropFirst() {
      let parts = line.split(separator: "\t")
      if parts.count == 2 { links[String(parts[0])] = String(parts[1]) }
    }
  }

  private static let head = "odata delta links 1"

  /// Nil where there is none.
  var text: String? {
    guard !links.isEmpty else { return nil }
    let lines = links.sorted { $0.key < $1.key }.map { "\($0.key)\t\($0.value)" }
    return ([Self.head] + lines).joined(separator: "\n")
  }

  subscript(set: String) -> String? {
    get { links[set] }
    set { links[set] = newValue.flatMap { $0.contains { $0.isWhitespace } ? nil : $0 } }
  }
}

/// Reads what has changed in a set since its link was given.
actor DeltaReader {
  private let line: FeedLine
  private let form: EntityForm

  init(_ line: FeedLine, _ form: EntityForm) {
    self.line = line
    self.form = form
  }

  /// Changes beyond which a comparison is cheaper.
  static let limit = 50_000
  static let preference = "odata.track-changes"

  struct Changes: Sendable {
    var rows: [RowImage] = []
    /// Of what changed without all its values.
    var keys: [ObjectKey] = []
    /// Something changed that the answer does not name.
    var isAny = false
    /// Nil where the service gives none any more.
    var link: String?
  }

  func read(_ link: String) async -> Result<Changes, FeedFailure> {
    do throws(FeedFailure) { return .success(try await changes(link)) } catch {
      return .failure(error)
    }
  }

  private func changes(_ link: String) async throws(FeedFailure) -> Changes {
    var changes = Changes()
    var links = ODataNextLinks(start: link)
    var address: String? = link
    var there: Set<ObjectKey> = []
    var deleted: [ObjectKey] = []
    while let current = address {
      let page = try await line.open(current, form, prefers: nil)
      while let item = try await line.item(page) {
        guard there.count + deleted.count < Self.limit else {
          changes.isAny = true
          continue
        }
        switch item {
        case .entry(let entry): take(entry, &changes, &there)
        case .deleted(let entry):
          if let key = key(of: entry) {
            // It may only have left the answer's condition.
            if entry.reason == "changed" { changes.keys.append(key) } else { deleted.append(key) }
          } else {
            changes.isAny = true
          }
        // What refers to another object has the value of it too.
        case .link, .value: continue
        }
      }
      let head = page.reader.head
      changes.link = head.delta.map { ODataURL.resolved($0, base: current) }
      address = nil
      if let next = head.next {
        do throws(ODataError) { address = try links.follow(next, base: current) } catch {
          throw FeedFailure(
            .odd,
            ConnectorError(
              "The changes of \(form.set.name) lead nowhere: \(error.message)",
              hint: "Look at the next links of the service.", isTransient: true))
        }
      }
    }
    for key in deleted {
      // What was deleted and made again, or the other way round, is read.
      if there.contains(key) {
        changes.rows.removeAll { $0.key == key }
        changes.keys.append(key)
      } else {
        changes.rows.append(RowImage(entity: form.entity.name, key: key, values: nil))
      }
    }
    return changes
  }

  private func take(_ entry: ODataEntry, _ changes: inout Changes, _ there: inout Set<ObjectKey>) {
    let isWhole = form.values.allSatisfy {
      entry.properties[path: $0.path.joined(separator: "/")] != nil
    }
    let image = form.image(entry)
    if isWhole, image.values != nil {
      there.insert(image.key)
      changes.rows.append(image)
    } else if let key = keyValues(entry.properties) ?? entry.id.flatMap({ key(inAddress: $0) }) {
      there.insert(key)
      changes.keys.append(key)
    } else {
      changes.isAny = true
    }
  }

  private func keyValues(_ properties: ODataProperties) -> ObjectKey? {
    var values: [AttributeValue] = []
    for position in form.entity.key {
      let value = form.values[position]
      guard let found = properties[path: value.path.joined(separator: "/")],
        let canonical = value.attribute(found), !canonical.isNull
      else { return nil }
      values.append(canonical)
    }
    return ObjectKey(values)
  }

  private func key(of entry: ODataDeletedEntry) -> ObjectKey? {
    keyValues(entry.properties) ?? key(inAddress: entry.id)
  }

  /// The key in an address such as `Items(3)`.
  private func key(inAddress text: String) -> ObjectKey? {
    let address = ODataURL.resolved(text, base: line.service.root)
    guard let name = address.split(separator: "/").last else { return nil }
    let settings = ODataAddressSettings(version: line.service.metadata.version)
    guard let parsed = try? ODataAddress(parsing: String(name), settings),
      case .predicate(let predicate)? = parsed.path.last
    else { return nil }
    var values: [AttributeValue] = []
    for position in form.entity.key {
      let value = form.values[position]
      let expression: ODataExpression?
      switch predicate {
      case .value(let only): expression = form.entity.key.count == 1 ? only : nil
      case .named(let parts):
        let name = value.path.joined(separator: "/")
        expression = parts.first { $0.name == name }?.value
      }
      guard case .literal(let literal)? = expression,
        let edm = EdmValue(text: literal.text, type: value.primitive),
        let canonical = value.attribute(edm), !canonical.isNull
      else { return nil }
      values.append(canonical)
    }
    return ObjectKey(values)
  }
}
