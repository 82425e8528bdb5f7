import FerryConnector
import FerryHTTP
import FerryModel
import FerryOData
import FerryODataClient

/// How a service has the objects of one entity.
struct EntityForm: Sendable {
  let entity: Entity
  let set: EdmEntitySet
  /// By position in the entity's attributes.
  let values: [ValueForm]
  /// Whether each attribute is a property of its own.
  let isFlat: Bool
  /// Which of its rows are read.
  var scope: RowScope = .all

  /// The name under which the links to later changes are kept: those of a condition are its own.
  var linkName: String { self.set.name + scope.option }

  /// Or the first thing that does not fit.
  static func make(
    _ entity: Entity, _ metadata: EdmMetadata
  ) -> Result<EntityForm, Misfit> {
    guard let set = metadata.entitySets.first(where: { $0.name == entity.table }),
      let type = metadata.entityType(set.entityType)
    else {
      let names = metadata.entitySets.map(\.name)
      return .failure(
        Misfit(
          place: entity.name, problem: "the service has no set \(entity.table)",
          cure: "It has: \(names.prefix(20).joined(separator: ", ")). Make the model again."))
    }
    let keys = metadata.keys(of: type).map(\.name)
    let own = entity.key.map { entity.attributes[$0].column }
    guard Set(keys) == Set(own), keys.count == own.count else {
      return .failure(
        Misfit(
          place: entity.name,
          problem: "the key of \(set.name) is \(keys.joined(separator: ", ")), in the model it is "
            + own.joined(separator: ", "), cure: EntityForm.cure))
    }
    var values: [ValueForm] = []
    for attribute in entity.attributes {
      switch form(of: attribute, type, metadata) {
      case .success(let form): values.append(form)
      case .failure(let problem):
        return .failure(
          Misfit(
            place: "\(entity.name).\(attribute.name)", problem: problem.text, cure: EntityForm.cure)
        )
      }
    }
    return .success(
      EntityForm(
        entity: entity, set: set, values: values, isFlat: values.allSatisfy { $0.path.count == 1 }))
  }

  static let cure = "Make the model again with ferry new, or correct it."

  private struct Problem: Error { let text: String }

  private static func form(
    of attribute: Attribute, _ type: EdmStructuredType, _ metadata: EdmMetadata
  ) -> Result<ValueForm, Problem> {
    let path = attribute.column.split(separator: "/").map(String.init)
    var holder = type
    for name in path.dropLast() {
      guard let property = metadata.property(name, of: holder),
        let inner = metadata.complexType(property.type.name)
      else { return .failure(Problem(text: "the service has no \(attribute.column)")) }
      holder = inner
    }
    guard let property = path.last.flatMap({ metadata.property($0, of: holder) }) else {
      return .failure(Problem(text: "the service has no \(attribute.column)"))
    }
    guard
      case .attribute(let fitting, _, _, _, _) = ODataPropertyType(property, in: metadata),
      fitting == attribute.type || fitting == .dateTime && attribute.type == .date
    else {
      return .failure(
        Problem(
          text:
            "\(attribute.column) is \(property.type) at the service and \(attribute.type.rawValue)"
            + " in the model"))
    }
    let isListed = metadata.enumType(property.type.name) != nil
    return .success(
      ValueForm(
        path: path,
        primitive: isListed ? .string : metadata.primitive(property.type.name) ?? .string,
        enumeration: isListed ? property.type.name : nil, type: attribute.type))
  }

  // MARK: Addresses

  /// Beside the root; nil where the key is none of the entity.
  func address(_ key: ObjectKey, _ service: ODataService) -> String? {
    guard let values = key.values(of: entity), let parts = edmKey(values) else { return nil }
    return try? service.address(of: set.name, key: parts)
  }

  private func edmKey(_ key: [AttributeValue]) -> ODataKey? {
    var parts: [String: EdmValue] = [:]
    for (position, value) in zip(entity.key, key) {
      guard let edm = values[position].edm(value), !edm.isNull else { return nil }
      parts[values[position].path.joined(separator: "/")] = edm
    }
    if parts.count == 1, let only = parts.values.first { return ODataKey(only) }
    return ODataKey(parts)
  }

  /// What is read of each object, and in what order.
  func feedAddress(_ service: ODataService) -> String {
    let isOld = service.metadata.version < .v4
    let names = selected.map { PercentEncoding.encode($0, keeping: "/") }
    let order = entity.key.map { PercentEncoding.encode(values[$0].path.joined(separator: "/")) }
    return "\(PercentEncoding.encode(set.name))?$select=\(names.joined(separator: ","))"
      + "&$orderby=\(order.joined(separator: ","))"
      + (set.sap.countable ? isOld ? "&$inlinecount=allpages" : "&$count=true" : "")
      + scope.option
  }

  /// Of a complex value the whole.
  private var selected: [String] {
    var names: [String] = []
    for form in values {
      if let name = form.path.first, !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// The objects with these values; nil where they cannot be asked for.
  func searchAddress(
    _ wanted: [(position: Int, value: AttributeValue)], _ service: ODataService
  )
    -> String?
  {
    let version = service.metadata.version
    var terms: [String] = []
    for (position, value) in wanted {
      guard let edm = values[position].edm(value) else { return nil }
      terms.append("\(values[position].path.joined(separator: "/")) eq \(edm.literal(version))")
    }
    guard !terms.isEmpty else { return nil }
    return
      "\(PercentEncoding.encode(set.name))?$filter=\(RowScope.encoded(terms.joined(separator: " and ")))"
  }

  /// The object with this key, if the condition holds for it; nil where the key is none of the entity.
  func scopedAddress(
    _ key: ObjectKey, _ condition: String, _ service: ODataService
  ) -> String? {
    guard let own = key.values(of: entity),
      let address = searchAddress(
        zip(entity.key, own).map { (position: $0, value: $1) }, service)
    else { return nil }
    return address + RowScope.encoded(" and (\(condition))")
  }

  // MARK: Rows

  /// The row of an entry, or why it is none.
  func image(_ entry: ODataEntry) -> RowImage {
    image { form in entry.properties[path: form.path.joined(separator: "/")] }
  }

  func image(_ value: (ValueForm) throws -> EdmValue?) -> RowImage {
    var row: [AttributeValue] = []
    row.reserveCapacity(values.count)
    for (position, form) in values.enumerated() {
      var shown: String?
      do {
        let found = try value(form) ?? .null
        if let canonical = form.attribute(found),
          !canonical.isNull || entity.attributes[position].isNullable
        {
          row.append(canonical)
          continue
        }
        shown = found.isNull ? nil : found.text
      } catch {
        shown = "a value that is none"
      }
      let key = entity.key.map { $0 < row.count ? row[$0] : nil }
      let rejected = RejectedRow(
        entity, keyValues: key, at: position, shown: shown, place: "the set \(set.name)")
      return RowImage(rejected, key: ObjectKey(key.compactMap { $0 }))
    }
    return RowImage(entity: entity.name, key: entity.key(of: row), values: row)
  }

  /// Nil where a value is one that the service cannot have.
  func entry(
    _ changed: [Int: AttributeValue], onto before: ODataEntry?
  ) -> ODataEntry? {
    var entry = ODataEntry(type: set.entityType)
    for (position, value) in changed.sorted(by: { $0.key < $1.key }) {
      let form = values[position]
      guard let edm = form.edm(value) else { return nil }
      guard form.path.count > 1, let root = form.path.first else {
        entry.properties.set(edm, at: form.path)
        continue
      }
      // The other parts of a complex value stay as they are.
      if entry.properties[root] == nil, let whole = before?.properties[root], !whole.isNull {
        entry.properties[root] = whole
      }
      entry.properties.set(edm, at: form.path)
    }
    return entry
  }
}

/// Why an entity of the model is none of the service.
struct Misfit: Error {
  let place: String
  let problem: String
  let cure: String

  var mismatch: Mismatch { Mismatch(place: place, problem: problem, cure: cure) }
}
