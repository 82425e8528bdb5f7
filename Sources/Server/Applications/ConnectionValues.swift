import FerryJSON
import FerryOData
import FerryRegistration
import FerryServer

/// The values of a connection: what was set, or else the default.
struct ConnectionValues {
  let connection: StoredConnection
  let application: Application
  /// The address of the server, with a slash at its end.
  let door: String
  /// Values that are not the default, by name.
  private(set) var given: [String: PropertyValue]

  init(_ connection: StoredConnection, _ application: Application, door: String) {
    self.connection = connection
    self.application = application
    self.door = door
    given = ConnectionValues.read(connection.properties)
  }

  var etag: String { "W/\"\(connection.changes)\"" }

  /// Nil where it has none, or where the app may not see it.
  func value(_ property: ConnectionProperty) -> PropertyValue? {
    switch property.name {
    case "ApplicationConnectionId": return .text(connection.id)
    case "UserName": return .text(connection.user)
    case "ETag": return .text(String(connection.changes))
    case "CreatedAt":
      return EdmDateTime(milliseconds: connection.registered).map {
        .text(EdmValue.dateTime($0).text)
      }
    case "ProxyApplicationEndpoint":
      return application.services.first.map { .text("\(door)\($0)/") }
    case "CustomizationBundleId":
      return given[property.name] ?? application.bundle.map { .text($0) }
    case "WebPushKey": return (application.push?.web?.publicKey).map { .text($0) }
    case "ProxyPushEndpoint": return .text("\(door)Notification/\(connection.id)")
    default: break
    }
    if property.category == .passwordPolicy, !hasPasswordPolicy { return nil }
    return given[property.name] ?? property.defaultValue
  }

  /// A policy is given out where the administrator has enabled it and the app can follow it.
  var hasPasswordPolicy: Bool {
    given["CapabilitiesPasswordPolicy"] == .boolean(true)
      && given["PasswordPolicyEnabled"] == .boolean(true)
  }

  /// What a channel tells of them.
  var settings: [ConnectionSetting] {
    ConnectionProperty.all.filter { $0.name != "ETag" }.map { property in
      ConnectionSetting(
        name: property.name, number: property.number, value: value(property)?.text)
    }
  }

  /// The entry of the service, with its addresses below `root`.
  func entry(_ root: String) -> ODataEntry {
    var entry = ODataEntry(type: ApplicationsMetadata.connection)
    let address = "\(root)Connections('\(connection.id)')"
    entry.id = address
    entry.title = connection.id
    entry.author = connection.user
    entry.etag = etag
    entry.updated = EdmDateTime(milliseconds: connection.registered).map {
      EdmValue.dateTime($0).text + "Z"
    }
    entry.links = [
      ODataLink(
        relation: "edit", href: "Connections('\(connection.id)')", title: "Connection", role: .edit)
    ]
    for property in ConnectionProperty.all {
      entry.properties.append(ODataProperty(property.name, edm(property)))
    }
    return entry
  }

  /// What the app has said that it can do: each property of this category, without the prefix of its
  /// name.
  func capabilities(_ root: String) -> [ODataEntry] {
    ConnectionProperty.all.filter { $0.category == .capabilities }.map { property in
      let (category, prefix) = (property.category.rawValue, "Capabilities")
      let name = String(property.name.dropFirst(prefix.count))
      var entry = ODataEntry(
        type: "applications.Capability",
        [
          "ApplicationConnectionId": .string(connection.id), "Category": .string(category),
          "CapabilityName": .string(name),
          "CapabilityValue": value(property).map { .string($0.text) } ?? .null,
        ])
      entry.id =
        "\(root)Capabilities(ApplicationConnectionId='\(connection.id)',"
        + "Category='\(category)',CapabilityName='\(name)')"
      entry.title = name
      return entry
    }
  }

  func edm(_ property: ConnectionProperty) -> EdmValue {
    switch value(property) {
    case nil: .null
    case .text(let text) where property.kind == .moment:
      EdmDateTime(milliseconds: connection.registered).map { .dateTime($0) } ?? .string(text)
    case .text(let text): .string(text)
    case .integer(let number): .int32(Int32(clamping: number))
    case .boolean(let flag): .boolean(flag)
    }
  }

  // Changes.

  /// What a request wants to change; nil takes a value away.
  typealias Change = [(property: ConnectionProperty, value: PropertyValue?)]

  /// What the properties of a body change. One that an app may not change refuses all of them.
  static func change(_ properties: ODataProperties) throws(ApplicationsRefusal) -> Change {
    var change: Change = []
    var seen: Set<String> = []
    for property in properties {
      guard seen.insert(property.name).inserted else {
        throw ApplicationsRefusal(.repeatedProperty, property.name)
      }
      guard let known = ConnectionProperty.named(property.name) else {
        throw ApplicationsRefusal(.unknownProperty, String(property.name.prefix(64)))
      }
      guard !known.isReadOnly else { throw ApplicationsRefusal(.readOnlyProperties, known.name) }
      change.append((known, try value(property.value, known)))
    }
    return change
  }

  private static func value(
    _ value: EdmValue, _ property: ConnectionProperty
  ) throws(ApplicationsRefusal) -> PropertyValue? {
    switch (property.kind, value) {
    case (_, .null): return nil
    case (.text, .string(let text)):
      guard text.utf8.count <= mostTextBytes else {
        throw ApplicationsRefusal(.wrongValue, property.name)
      }
      return .text(text)
    case (.boolean, .boolean(let flag)): return .boolean(flag)
    case (.boolean, .string(let text)), (.integer, .string(let text)):
      // Apps of the reference write every value as a text.
      guard let value = PropertyValue(text, property.kind) else {
        throw ApplicationsRefusal(.wrongValue, property.name)
      }
      return value
    case (.integer, _):
      guard let number = value.integer, Int32(exactly: number) != nil else {
        throw ApplicationsRefusal(.wrongValue, property.name)
      }
      return .integer(number)
    default: throw ApplicationsRefusal(.wrongValue, property.name)
    }
  }

  /// Tokens of push services have up to 4 KB.
  static let mostTextBytes: Int = 4_096

  /// The stored form after a change. `isWhole`: what the change leaves out gets its default.
  mutating func apply(_ change: Change, isWhole: Bool) -> String {
    if isWhole {
      for property in ConnectionProperty.all where !property.isReadOnly {
        given[property.name] = nil
      }
    }
    for (property, value) in change { given[property.name] = value }
    return ConnectionValues.write(given)
  }

  /// The values that a template gives to a new connection.
  static func values(of template: ConnectionTemplate?) -> [String: PropertyValue] {
    guard let template else { return [:] }
    var found: [String: PropertyValue] = [:]
    for property in ConnectionProperty.all {
      guard let setting = property.setting, let value = template.settings.values[setting] else {
        continue
      }
      switch (property.kind, value) {
      case (.text, .text(let text)): found[property.name] = .text(text)
      case (.integer, .integer(let number)): found[property.name] = .integer(number)
      case (.boolean, .boolean(let flag)): found[property.name] = .boolean(flag)
      default: continue
      }
    }
    return found
  }

  static func write(_ values: [String: PropertyValue]) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      switch value {
      case .text(let text): writer.field(name, text)
      case .integer(let number): writer.field(name, number)
      case .boolean(let flag): writer.field(name, flag)
      }
    }
    writer.endObject()
    return writer.text
  }

  static func read(_ text: String) -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for member in (try? JSONNode.parse(Array(text.utf8)))?.object ?? [] {
      if let text = member.value.string {
        values[member.key] = .text(text)
      } else if let flag = member.value.boolean {
        values[member.key] = .boolean(flag)
      } else if let number = member.value.integer {
        values[member.key] = .integer(number)
      }
    }
    return values
  }
}
