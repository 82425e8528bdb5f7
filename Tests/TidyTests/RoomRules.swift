/// The rooms of the server's service: a room names the core, its own fields and the rooms below it.
/// That it names nothing above it is a matter of the stages (`StageOrder.server`).
enum RoomRules {
  /// From the lowest to the highest; each stands in a folder of its name.
  static let rooms = ["Accounts", "Intake", "Operations", "Exchanges", "Callers"]
  static let longest: Int = 1_100
  static let mostFields: Int = 16
  /// Set once by the driver, and no state of the room.
  static let settings: Set = ["provider"]

  /// What one file says of a room.
  private struct Part {
    var lines: Int = 0
    /// Fields, and whether they are variables.
    var fields: [(name: Token, isVariable: Bool)] = []
  }

  static func violations(in files: [SourceFile]) -> [Violation] {
    let side = files.filter { $0.isIn("Sources/Server/Server") }
    var variables: [String: Set<String>] = [:]
    var found: [Violation] = []
    for room in rooms + ["ServiceCore"] {
      let parts = side.map { ($0, part(of: room, in: $0)) }.filter { $0.1.lines > 0 }
      let fields = parts.flatMap(\.1.fields)
      variables[room] = Set(fields.filter(\.isVariable).map(\.name.text)).subtracting(settings)
      guard let (file, _) = parts.first else { continue }
      let lines = parts.reduce(0) { $0 + $1.1.lines }
      if lines > longest || fields.count > mostFields {
        found.append(
          file.violation(
            1, "a room has at most \(longest) lines and \(mostFields) fields",
            "\(room) has \(lines) lines and \(fields.count) fields",
            cure: "make a room of what belongs together, and let calls go downwards only"))
      }
    }
    return found + side.flatMap { strangers(in: $0, variables) }
  }

  /// A room that touches a variable of another one.
  private static func strangers(
    in file: SourceFile, _ variables: [String: Set<String>]
  ) -> [Violation] {
    guard let own = rooms.first(where: { file.isIn("Sources/Server/Server/\($0)") }) else {
      return []
    }
    let tokens = file.tokens
    return tokens.indices.compactMap { index in
      let room = tokens[index].text
      guard let first = room.first, first.isLowercase, tokens.text(index + 1) == "." else {
        return nil
      }
      let owner = first.uppercased() + room.dropFirst()
      let field = tokens.text(index + 2)
      guard owner != own, rooms.contains(owner), variables[owner]?.contains(field) == true else {
        return nil
      }
      return file.violation(
        tokens[index].line, "a room leaves the variables of another one alone",
        "\(own) touches \(field) of \(owner)", cure: "call a function of \(owner)")
    }
  }

  /// The bodies of the room's class and its extensions.
  private static func part(of room: String, in file: SourceFile) -> Part {
    let tokens = file.tokens
    var part = Part()
    var depth = 0
    var start: Int?
    for (index, token) in tokens.enumerated() {
      switch token.text {
      case "{":
        depth += 1
      case "}":
        depth -= 1
        if depth == 0, let first = start {
          part.lines += token.line - first - 1
          start = nil
        }
      case "class", "extension":
        if depth == 0, tokens.text(index + 1) == room { start = token.line }
      case "let", "var":
        guard depth == 1, start != nil, tokens.text(index - 1) != "static",
          isStored(tokens, after: index)
        else { continue }
        part.fields.append((tokens[index + 1], token.text == "var"))
      default: break
      }
    }
    return part
  }

  /// Whether a value is kept: it has one from the beginning, or no body.
  private static func isStored(_ tokens: [Token], after index: Int) -> Bool {
    let line = tokens[(index + 1)...].prefix { $0.line == tokens[index].line }.map(\.text)
    guard let body = line.firstIndex(of: "{") else { return true }
    return line.firstIndex(of: "=").map { $0 < body } ?? false
  }
}
