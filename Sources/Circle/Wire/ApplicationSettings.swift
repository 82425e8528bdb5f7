import FerryJSON

/// What a server's connection template says of an application: server address, own settings of the
/// app, limits. The device keeps it and reads it without a network.
public struct ApplicationSettings: Sendable, Equatable {
  /// The template's name; empty where the server has none for this device.
  public var template: String
  /// Differs once a value differs.
  public var version: String
  /// By category and property, with a dot between them: `custom.color`.
  public var values: [String: SettingValue]

  public init(template: String = "", version: String = "", values: [String: SettingValue] = [:]) {
    self.template = template
    self.version = version
    self.values = values
  }

  /// Nil where it has no value under this name, or one of another type.
  public func text(_ name: String) -> String? {
    if case .text(let text) = values[name] { text } else { nil }
  }

  /// The same of a whole number.
  public func integer(_ name: String) -> Int64? {
    if case .integer(let number) = values[name] { number } else { nil }
  }

  /// The same of true or false.
  public func boolean(_ name: String) -> Bool? {
    if case .boolean(let flag) = values[name] { flag } else { nil }
  }

  /// Names whose value is new, removed or another one.
  public func changes(since older: ApplicationSettings) -> [String] {
    Set(values.keys).union(older.values.keys).filter { values[$0] != older.values[$0] }.sorted()
  }
}

/// A value of an application setting.
public enum SettingValue: Sendable, Hashable {
  case text(String)
  case integer(Int64)
  case boolean(Bool)
}

extension ApplicationSettings {
  package var json: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }

  package init(json: [UInt8]) throws(JSONError) {
    self = try json.scan { scanner throws(JSONError) in try ApplicationSettings(&scanner) }
  }

  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("template", template)
    writer.field("version", version)
    writer.key("values")
    writer.beginObject()
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      switch value {
      case .text(let text): writer.field(name, text)
      case .integer(let number): writer.field(name, number)
      case .boolean(let flag): writer.field(name, flag)
      }
    }
    writer.endObject()
    writer.endObject()
  }

  /// A value of a kind that is not known yet is left out: a newer server may have more.
  init(_ scanner: inout JSONScanner) throws(JSONError) {
    self.init()
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "template": template = try scanner.name(of: key)
      case "version": version = try scanner.id(of: key)
      case "values":
        try scanner.enterObject()
        while let name = try scanner.nextName(
          of: key, after: values.count, atMost: WireLimits.namesInMessage)
        {
          switch try scanner.peek() {
          case .string:
            values[name] = .text(try scanner.text(of: name, atMost: WireLimits.settingBytes))
          case .boolean: values[name] = .boolean(try scanner.boolean())
          case .number:
            let text = try scanner.numberText()
            values[name] = Int64(text).map(SettingValue.integer)
          default: _ = try scanner.skipValue()
          }
        }
      default: try scanner.skipValue()
      }
    }
  }
}
