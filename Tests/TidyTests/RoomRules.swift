/// The rooms of a class that knows all stages: a room names its own fields and what its row allows.
struct RoomRules {
  struct Room {
    let name: String
    /// The property under which the core or another room has it.
    let instance: String
    /// The rooms that it may name.
    let uses: Set<String>
    /// Its variables that others may read, and that only it can set.
    var shows: Set<String> = []
  }

  /// Each room is in a folder of its name; the core is in `Core`.
  let folder: String
  let core: String
  /// From the lowest to the highest.
  let rooms: [Room]
  /// The class with the public calls, which names all rooms; nil if files beside the rooms may too.
  var top: String?
  /// Set once by the driver, and no state of the room.
  var settings: Set<String> = []

  static let longest: Int = 1_100
  static let mostFields: Int = 16

  static let service = RoomRules(
    folder: "Sources/Server/Server", core: "ServiceCore",
    rooms: [
      Room(name: "ServiceCore", instance: "core", uses: []),
      Room(name: "Accounts", instance: "accounts", uses: ["ServiceCore"]),
      Room(name: "Intake", instance: "intake", uses: ["ServiceCore"]),
      Room(
        name: "Operations", instance: "operations", uses: ["ServiceCore", "Accounts", "Intake"]),
      Room(name: "Desk", instance: "desk", uses: ["ServiceCore"]),
      Room(
        name: "Exchanges", instance: "exchanges",
        uses: ["ServiceCore", "Accounts", "Intake", "Operations", "Desk"]),
      Room(
        name: "Callers", instance: "callers", uses: ["ServiceCore", "Accounts", "Operations"]),
    ], settings: ["provider"])

  static let session = RoomRules(
    folder: "Sources/Circle/Device/Session", core: "SessionCore",
    rooms: [
      Room(name: "TokenStore", instance: "tokens", uses: [], shows: ["failure"]),
      Room(name: "Announcements", instance: "announcements", uses: []),
      Room(name: "SessionCore", instance: "core", uses: ["TokenStore", "Announcements"]),
      Room(
        name: "SignIn", instance: "signIn", uses: ["SessionCore", "TokenStore", "Announcements"]),
      Room(
        name: "PlanQueue", instance: "plans", uses: ["SessionCore"],
        shows: ["current", "questions"]),
      Room(
        name: "Requests", instance: "requests",
        uses: ["SessionCore", "TokenStore", "Announcements", "SignIn", "PlanQueue"]),
    ], top: "Session")

  private struct Field {
    let name: String
    let isVariable: Bool
    /// Only the room itself can set it.
    let isReadable: Bool
  }

  /// What one file says of a room.
  private struct Part {
    var lines: Int = 0
    var fields: [Field] = []
  }

  func violations(in files: [SourceFile]) -> [Violation] {
    let side = files.filter { $0.isIn(folder) }
    var variables: [String: Set<String>] = [:]
    var found: [Violation] = []
    for room in rooms {
      let parts = side.map { ($0, part(of: room.name, in: $0)) }.filter { $0.1.lines > 0 }
      let fields = parts.flatMap(\.1.fields)
      if room.name != core {
        let own = fields.filter { field in
          field.isVariable && !(field.isReadable && room.shows.contains(field.name))
        }
        variables[room.name] = Set(own.map(\.name)).subtracting(settings)
      }
      guard let (file, _) = parts.first else { continue }
      let lines = parts.reduce(0) { $0 + $1.1.lines }
      if lines > RoomRules.longest || fields.count > RoomRules.mostFields {
        found.append(
          file.violation(
            1, "a room has at most \(RoomRules.longest) lines and \(RoomRules.mostFields) fields",
            "\(room.name) has \(lines) lines and \(fields.count) fields",
            cure: "make a room of what belongs together, and let calls go downwards only"))
      }
    }
    return found + side.flatMap { names(in: $0) + strangers(in: $0, variables) }
  }

  /// The room whose folder the file is in.
  private func room(of file: SourceFile) -> Room? {
    rooms.first { file.isIn("\(folder)/\($0.name == core ? "Core" : $0.name)") }
  }

  /// A room that names another one beside its row, by its type or through the core.
  private func names(in file: SourceFile) -> [Violation] {
    let own = room(of: file)
    if own == nil {
      guard let top, !file.path.hasPrefix("\(folder)/\(top).swift"),
        !file.path.hasPrefix("\(folder)/\(top)+")
      else { return [] }
    }
    let tokens = file.tokens
    var known: Set<String> = []
    return tokens.indices.compactMap { index in
      let isOfCore = tokens.text(index - 1) == "." && tokens.text(index - 2) == "core"
      let text = tokens[index].text
      let named = rooms.first {
        isOfCore ? $0.instance == text : $0.name == text && tokens.text(index - 1) != "."
      }
      guard let named, named.name != own?.name, own?.uses.contains(named.name) != true,
        own != nil || !isStatic(tokens, index), known.insert(named.name).inserted
      else { return nil }
      return file.violation(
        tokens[index].line, "a room names its own fields and the rooms of its row",
        "\(own?.name ?? file.path) names \(named.name)",
        cure: "let the room above bring both together, or put the room into the row here")
    }
  }

  /// A constant or a function of the type alone, as `Requests.answerWait`.
  private func isStatic(_ tokens: [Token], _ index: Int) -> Bool {
    tokens.text(index + 1) == "."
  }

  /// A room that touches a variable of another one.
  private func strangers(
    in file: SourceFile, _ variables: [String: Set<String>]
  ) -> [Violation] {
    guard let own = room(of: file) else { return [] }
    let tokens = file.tokens
    return tokens.indices.compactMap { index in
      guard tokens.text(index + 1) == "." else { return nil }
      let instance = tokens[index].text
      let field = tokens.text(index + 2)
      guard let owner = rooms.first(where: { $0.instance == instance }), owner.name != own.name,
        variables[owner.name]?.contains(field) == true
      else { return nil }
      return file.violation(
        tokens[index].line, "a room leaves the variables of another one alone",
        "\(own.name) touches \(field) of \(owner.name)", cure: "call a function of \(owner.name)")
    }
  }

  /// The bodies of the room's class and its extensions.
  private func part(of room: String, in file: SourceFile) -> Part {
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
        part.fields.append(
          Field(
            name: tokens.text(index + 1), isVariable: token.text == "var",
            isReadable: tokens.match(index - 4, "private", "(", "set", ")")))
      default: break
      }
    }
    return part
  }

  /// Whether a value is kept: it has one from the beginning, or no body.
  private func isStored(_ tokens: [Token], after index: Int) -> Bool {
    let line = tokens[(index + 1)...].prefix { $0.line == tokens[index].line }.map(\.text)
    guard let body = line.firstIndex(of: "{") else { return true }
    return line.firstIndex(of: "=").map { $0 < body } ?? false
  }
}
