import FerryWire

/// What the settings of a connection template are about (facts/2.10).
package enum SettingCategory: String, Sendable, CaseIterable {
  case connection, device, deviceAdvanced, clientSecurity, security, application, proxy
  case passwordPolicy, push, registration, capabilities
  /// Push notices of each synchronization group; the group's name begins the property.
  case synchronization
  /// The app's own.
  case custom

  /// What a property has to be.
  package enum Kind: String, Sendable { case text, integer, boolean }

  /// The properties that there are; nil: any, with a value of any kind.
  package var properties: [String: Kind]? {
    switch self {
    case .connection:
      [
        "server": .text, "port": .integer, "protocol": .text, "path": .text, "domain": .text,
        "farm": .text, "streamParameters": .text,
      ]
    case .device: ["model": .text, "subtype": .text, "phoneNumber": .text, "imsi": .text]
    case .deviceAdvanced: ["traceLevel": .text, "traceSize": .integer, "relayTemplate": .text]
    case .clientSecurity:
      [
        "minimumPasswordLength": .integer, "strongPassword": .boolean, "idleTimeout": .integer,
        "passwordAttempts": .integer,
      ]
    case .security: ["encryptionEnabled": .boolean, "encryptionType": .text, "tlsType": .text]
    case .application: ["resources": .text, "settings": .text]
    case .proxy: ["applicationEndpoint": .text, "pushEndpoint": .text]
    case .passwordPolicy:
      [
        "enabled": .boolean, "defaultPasswordAllowed": .boolean, "minimumLength": .integer,
        "digits": .boolean, "upper": .boolean, "lower": .boolean, "special": .boolean,
        "uniqueCharacters": .integer, "expiresInDays": .integer, "lockTimeout": .integer,
        "attempts": .integer,
      ]
    case .registration: ["automatic": .boolean]
    case .push, .capabilities, .custom, .synchronization: nil
    }
  }
}

extension SettingValue {
  var kind: SettingCategory.Kind {
    switch self {
    case .text: .text
    case .integer: .integer
    case .boolean: .boolean
    }
  }
}
