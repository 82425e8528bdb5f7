/// A property of an application connection: what it is, and who may change it.
///
/// This table is the service's metadata, the rule of each update, and the page about registration.
public struct ConnectionProperty: Sendable, Hashable {
  /// What a property is about.
  public enum Category: String, Sendable, CaseIterable {
    case connection, application, device, user, custom, proxy, deviceAdvanced, capabilities
    case passwordPolicy, push
  }

  /// Who may change it.
  public enum Writer: String, Sendable, CaseIterable {
    case device
    /// By the connection template.
    case administrator
    /// Nobody: the server knows it.
    case server
  }

  /// As the service spells it.
  public let name: String
  public let category: Category
  public let kind: PropertyValue.Kind
  public let writer: Writer
  /// Under which apps of the reference hear of a change; nil: it has none.
  public let number: Int?
  /// The value where nobody has set one; nil: none.
  public let defaultValue: PropertyValue?
  /// The setting of a connection template that gives the value; nil: no template does.
  public let setting: String?
  /// What it is for.
  public let meaning: String

  init(
    _ name: String, _ category: Category, _ kind: PropertyValue.Kind, _ writer: Writer,
    number: Int? = nil, default defaultValue: PropertyValue? = nil, setting: String? = nil,
    _ meaning: String
  ) {
    self.name = name
    self.category = category
    self.kind = kind
    self.writer = writer
    self.number = number
    self.defaultValue = defaultValue
    self.setting = setting
    self.meaning = meaning
  }

  /// Whether the app may not change it.
  public var isReadOnly: Bool { writer != .device }

  /// Nil where there is no property of this name.
  public static func named(_ name: String) -> ConnectionProperty? { byName[name] }

  private static let byName: [String: ConnectionProperty] = Dictionary(
    uniqueKeysWithValues: all.map { ($0.name, $0) })
}
