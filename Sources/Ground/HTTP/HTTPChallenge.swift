/// One way to sign in that a server names in `WWW-Authenticate` or `Proxy-Authenticate`
/// (RFC 9110, 11.3).
public struct HTTPChallenge: Sendable, Equatable {
  /// As it was sent; compared without regard to case.
  public let scheme: String
  /// By lower-case name.
  public let parameters: [String: String]
  /// The single word that some schemes send in place of parameters.
  public let token: String?

  /// The area of the server that the credentials are for; empty where none is named.
  public var realm: String { parameters["realm"] ?? "" }

  /// Whether the scheme has this name, in whatever case.
  public func isScheme(_ name: String) -> Bool { HTTPHeaders.isSame(scheme, name) }

  /// All challenges of the header's lines, in order; what is none is passed over.
  public static func parse(_ lines: [String]) -> [HTTPChallenge] {
    var found: [HTTPChallenge] = []
    var scheme: String?
    var parameters: [String: String] = [:]
    var token: String?
    func close() {
      if let scheme {
        found.append(HTTPChallenge(scheme: scheme, parameters: parameters, token: token))
      }
      scheme = nil
      parameters = [:]
      token = nil
    }
    for line in lines {
      for part in parts(line) {
        var rest = part[...]
        let word = rest.prefix { $0 != " " && $0 != "=" && $0 != "\"" }
        let after = rest[word.endIndex...].drop { $0 == " " }
        if after.first != "=" {
          close()
          scheme = String(word)
          rest = after
        }
        guard scheme != nil, !rest.isEmpty else { continue }
        if let (name, value) = parameter(rest) {
          if parameters[name] == nil { parameters[name] = value }
        } else {
          token = String(rest)
        }
      }
      close()
    }
    return found
  }

  /// What stands between the commas that are in no quotation.
  private static func parts(_ line: String) -> [String] {
    var parts: [String] = []
    var part = ""
    var isQuoted = false
    var isEscaped = false
    for character in line.unicodeScalars {
      if character == "," && !isQuoted {
        parts.append(part)
        part = ""
        continue
      }
      if character == "\"" && !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && character == "\\" && !isEscaped
      if character != " " || !part.isEmpty { part.unicodeScalars.append(character) }
    }
    parts.append(part)
    return parts.filter { !$0.isEmpty }
  }

  private static func parameter(_ text: Substring) -> (String, String)? {
    guard let equals = text.firstIndex(of: "=") else { return nil }
    let name = text[..<equals].filter { $0 != " " }.lowercased()
    let value = text[text.index(after: equals)...].drop { $0 == " " }
    // A word of base 64 ends with equals signs.
    guard !name.isEmpty, !value.isEmpty, !value.allSatisfy({ $0 == "=" }) else { return nil }
    guard value.first == "\"" else { return (name, String(value.prefix { $0 != " " })) }
    var plain = ""
    var isEscaped = false
    for character in value.dropFirst() {
      if character == "\\" && !isEscaped {
        isEscaped = true
        continue
      }
      if character == "\"" && !isEscaped { break }
      plain.append(character)
      isEscaped = false
    }
    return (name, plain)
  }
}
