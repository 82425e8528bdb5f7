import FerryHTTP

/// An address with places for values: a template of RFC 6570 up to level 3, without lists.
struct AddressTemplate: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case literal(String)
    case expression(kind: Character?, names: [String])
  }

  let text: String
  private let parts: [Part]

  /// What is wrong with a template, as part of a sentence.
  struct Fault: Error, Equatable { let problem: String }

  init(_ text: String) throws(Fault) {
    guard text.utf8.count <= 2_000 else { throw Fault(problem: "is longer than 2000 bytes") }
    guard text.hasPrefix("/"), !text.hasPrefix("//") else {
      throw Fault(problem: "does not begin with one slash; it is added to the service's address")
    }
    var parts: [Part] = []
    var literal = ""
    var rest = Substring(text)
    while let first = rest.first {
      rest.removeFirst()
      guard first == "{" else {
        guard first != "}", !first.isWhitespace, first.asciiValue.map({ $0 >= 0x20 }) ?? true else {
          throw Fault(problem: "has \(first == "}" ? "a } without {" : "a blank")")
        }
        literal.append(first)
        continue
      }
      guard let end = rest.firstIndex(of: "}") else { throw Fault(problem: "has a { without }") }
      var inside = rest[..<end]
      rest = rest[rest.index(after: end)...]
      var kind: Character?
      if let sign = inside.first, "+#./;?&".contains(sign) {
        kind = sign
        inside.removeFirst()
      }
      let names = inside.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      let isGood = names.allSatisfy { name in
        !name.isEmpty
          && name.utf8.allSatisfy {
            ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x5F || $0 == 0x2E
          }
      }
      guard isGood else {
        throw Fault(
          problem:
            "has {\(inside)}, which is no list of names; lists and lengths (level 4) are not "
            + "supported")
      }
      if !literal.isEmpty { parts.append(.literal(literal)) }
      literal = ""
      parts.append(.expression(kind: kind, names: names))
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
    self.text = text
    self.parts = parts
    let shape = parts.map { if case .literal(let text) = $0 { text } else { "x" } }.joined()
    guard AddressTemplate.staysInside(shape) else {
      throw Fault(problem: "leaves the service's address by a part such as \"..\"")
    }
  }

  /// The names of all values, each once.
  var names: [String] {
    var names: [String] = []
    for part in parts {
      guard case .expression(_, let own) = part else { continue }
      for name in own where !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// The address with its values; nil where a value of the path is missing or empty, or where the
  /// address would leave the service by one. A missing value of the query is left out.
  func expanded(_ value: (String) -> String?) -> String? {
    var address = ""
    for part in parts {
      switch part {
      case .literal(let text): address += text
      case .expression(let kind, let names):
        guard let text = AddressTemplate.expansion(kind, names, value) else { return nil }
        address += text
      }
    }
    return AddressTemplate.staysInside(address) ? address : nil
  }

  private static func expansion(
    _ kind: Character?, _ names: [String], _ value: (String) -> String?
  ) -> String? {
    let isQuery = kind == "?" || kind == "&"
    var pieces: [String] = []
    for name in names {
      guard let text = value(name) else {
        if isQuery { continue }
        return nil
      }
      guard isQuery || !text.isEmpty else { return nil }
      let encoded =
        kind == "+" || kind == "#"
        ? PercentEncoding.encode(text, keeping: ":/?#[]@!$&'()*+,;=") : PercentEncoding.encode(text)
      switch kind {
      case ";": pieces.append(text.isEmpty ? name : "\(name)=\(encoded)")
      case "?", "&": pieces.append("\(name)=\(encoded)")
      default: pieces.append(encoded)
      }
    }
    guard !pieces.isEmpty else { return "" }
    switch kind {
    case nil, "+": return pieces.joined(separator: ",")
    case "#": return "#" + pieces.joined(separator: ",")
    case ".": return "." + pieces.joined(separator: ".")
    case "/": return "/" + pieces.joined(separator: "/")
    case ";": return ";" + pieces.joined(separator: ";")
    case "?": return "?" + pieces.joined(separator: "&")
    default: return "&" + pieces.joined(separator: "&")
    }
  }

  /// Whether a path of the service, added to its address, is still one of the service.
  static func staysInside(_ address: String) -> Bool {
    guard !address.hasPrefix("//"),
      address.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x5C })
    else { return false }
    let path = address.prefix { $0 != "?" && $0 != "#" }
    return path.split(separator: "/", omittingEmptySubsequences: false).enumerated().allSatisfy {
      place, part in
      // A path that names an object and then nothing would mean all of them.
      guard let decoded = PercentEncoding.decode(part.utf8) else { return false }
      return decoded != "." && decoded != ".."
        && (place == 0 || !part.isEmpty || path.count == 1 || isLast(place, path))
        && !decoded.utf8.contains { $0 < 0x20 || $0 == 0x5C }
    }
  }

  private static func isLast(_ place: Int, _ path: Substring) -> Bool {
    place == path.split(separator: "/", omittingEmptySubsequences: false).count - 1
  }
}
