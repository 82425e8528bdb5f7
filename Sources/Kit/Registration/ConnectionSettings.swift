import FerryJSON

/// The settings of a connection as the server has them.
public struct ConnectionSettings: Sendable, Equatable {
  /// By name; properties without a value are absent.
  public let values: [String: PropertyValue]
  /// Differs after each change; nil where the server named none.
  public let etag: String?

  /// The value of a property; nil where it has none.
  public subscript(_ name: String) -> PropertyValue? { values[name] }

  public var connectionID: String? { values["ApplicationConnectionId"]?.text }
  /// Where the data of the application is.
  public var applicationEndpoint: String? { values["ProxyApplicationEndpoint"]?.text }
  /// The address for services that push, to be written into a subscription.
  public var pushEndpoint: String? { values["ProxyPushEndpoint"]?.text }

  /// Reads an entry of the service in JSON; nil where it is none.
  init?(json bytes: [UInt8], etag: String?) {
    guard let root = try? JSONNode.parse(bytes), let members = root["d"]?.object else { return nil }
    var found: [String: PropertyValue] = [:]
    for member in members where ConnectionProperty.named(member.key) != nil {
      switch member.value.content {
      case .string(let text): found[member.key] = .text(text)
      case .boolean(let flag): found[member.key] = .boolean(flag)
      case .number(let text): found[member.key] = Int64(text).map { .integer($0) }
      default: continue
      }
    }
    guard found["ApplicationConnectionId"] != nil else { return nil }
    values = found
    self.etag = etag
  }

  /// Properties whose value is new, removed or another one.
  public func changes(since older: ConnectionSettings) -> [String] {
    Set(values.keys).union(older.values.keys).filter { values[$0] != older.values[$0] }.sorted()
  }
}
