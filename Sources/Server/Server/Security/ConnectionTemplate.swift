import FerryCrypto
import FerryJSON
import FerryWire

/// What devices get that are registered by it: settings, and whether an activation code is needed.
package struct ConnectionTemplate: Sendable, Equatable {
  /// How a user has to log in for a template to match.
  package enum Login: String, Sendable, CaseIterable { case password, token }

  package let name: String
  /// The package whose devices it is for, without its version; nil: any.
  package var package: String?
  package var login: Login?
  /// It matches by itself; otherwise only where an activation code or the operator names it.
  package var isAutomatic = true
  /// With a version over all values.
  package private(set) var settings: ApplicationSettings

  package init(name: String, values: [String: SettingValue]) {
    self.name = name
    settings = ApplicationSettings(template: name, values: values)
    let digest = SHA256Digest.hash(settings.json)
    settings.version = String(hexadecimal(digest).prefix(16))
  }

  /// The setting by which an app hears how much it is to log.
  package static let logLevel: String = "deviceAdvanced.traceLevel"
  private static let levelMark = "level-"

  /// The settings of a template, or none, with a level of the log that an operator set for one device.
  static func settings(
    _ settings: ApplicationSettings?, logLevel level: String
  ) -> ApplicationSettings {
    var settings = settings ?? ApplicationSettings()
    settings.values[logLevel] = .text(level)
    let digest = SHA256Digest.hash(settings.json)
    settings.version = levelMark + String(hexadecimal(digest).prefix(16))
    return settings
  }

  /// Whether settings of this version had such a level.
  static func isOfLevel(_ version: String) -> Bool { version.hasPrefix(levelMark) }

  package func matches(package: String, login: Login) -> Bool {
    isAutomatic && (self.package ?? package) == package && (self.login ?? login) == login
  }
}

extension ConnectionTemplate {
  /// Reads a file of templates:
  ///
  ///     {"templates": [{"name": "field", "package": "Flights", "login": "password",
  ///                     "settings": {"connection": {"server": "ferry.example.com", "port": 443},
  ///                                  "custom": {"color": "green"}}}]}
  package static func read(
    _ bytes: [UInt8], name: String
  ) throws(ServerError) -> [ConnectionTemplate] {
    let root: JSONNode
    do { root = try JSONNode.parse(bytes) } catch {
      throw ServerError(
        .badTemplateFile, "\(name):\(TextPlace(offset: error.offset, in: bytes)): \(error.problem)",
        hint: "Correct the file. The server keeps the previous templates meanwhile.")
    }
    let file = TemplateFile(bytes: bytes, name: name)
    guard let nodes = root["templates"]?.array else {
      throw file.error(root, "the file has no list of templates")
    }
    var templates: [ConnectionTemplate] = []
    for node in nodes {
      let template = try file.template(node)
      guard !templates.contains(where: { $0.name == template.name }) else {
        throw file.error(node, "there are two templates \(template.name)")
      }
      templates.append(template)
    }
    return templates
  }
}

/// A file of templates while it is read.
private struct TemplateFile {
  let bytes: [UInt8]
  let name: String

  func error(_ node: JSONNode, _ problem: String, hint: String? = nil) -> ServerError {
    ServerError(
      .badTemplateFile, "\(name):\(TextPlace(offset: node.offset, in: bytes)): \(problem)",
      hint: hint ?? "Correct the file. The server keeps the previous templates meanwhile.")
  }

  func template(_ node: JSONNode) throws(ServerError) -> ConnectionTemplate {
    guard let title = node["name"]?.string, !title.isEmpty else {
      throw error(node, "a template has no name")
    }
    guard title.utf8.count <= WireLimits.nameBytes else {
      throw error(node, "the name of a template has more than \(WireLimits.nameBytes) bytes")
    }
    var values: [String: SettingValue] = [:]
    for group in node["settings"]?.object ?? [] {
      guard let category = SettingCategory(rawValue: group.key) else {
        throw error(
          group.value, "\(title): there is no category \(group.key)",
          hint: "There are \(SettingCategory.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      guard let members = group.value.object else {
        throw error(group.value, "\(title): the category \(group.key) is not an object")
      }
      for member in members {
        let name = "\(group.key).\(member.key)"
        guard name.utf8.count <= WireLimits.nameBytes else {
          throw error(
            member.value,
            "\(title): a setting's name has more than \(WireLimits.nameBytes) bytes")
        }
        values[name] = try value(member, of: category, in: title)
      }
    }
    var template = ConnectionTemplate(name: title, values: values)
    template.package = node["package"]?.string
    template.isAutomatic = node["automatic"]?.boolean ?? true
    if let text = node["login"]?.string {
      guard let login = ConnectionTemplate.Login(rawValue: text) else {
        throw error(node, "\(title): the login \(text) is neither password nor token")
      }
      template.login = login
    }
    return template
  }

  private func value(
    _ member: JSONNode.Member, of category: SettingCategory, in title: String
  ) throws(ServerError) -> SettingValue {
    let path = "\(title): \(category.rawValue).\(member.key)"
    let value: SettingValue
    switch member.value.content {
    case .string(let text):
      guard text.utf8.count <= WireLimits.settingBytes else {
        throw error(
          member.value,
          "\(path) has \(text.utf8.count) bytes; \(WireLimits.settingBytes) are allowed")
      }
      value = .text(text)
    case .boolean(let flag): value = .boolean(flag)
    case .number(let text):
      guard let number = Int64(text) else {
        throw error(member.value, "\(path) is not a whole number of 64 bits")
      }
      value = .integer(number)
    default: throw error(member.value, "\(path) must be a text, a whole number, true or false")
    }
    guard let known = category.properties else { return value }
    guard let kind = known[member.key] else {
      throw error(
        member.value, "\(path) is not a setting of this category",
        hint: "There are \(known.keys.sorted().joined(separator: ", ")). Your own are in custom.")
    }
    guard value.kind == kind else { throw error(member.value, "\(path) is no \(kind.rawValue)") }
    return value
  }
}
