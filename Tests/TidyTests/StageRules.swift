/// The stages of the circle: a stage names its own types and those of earlier stages.
struct StageOrder {
  let folder: String
  /// From the earliest to the one that knows all.
  let stages: [String]
  /// Whether the stages are files of one folder, `Type+Stage.swift`, and not folders.
  var areFiles: Bool = false

  static let client = StageOrder(
    folder: "Sources/Circle/Device",
    stages: [
      "Store", "Objects", "Queries", "BigValues", "Pending", "Outbox", "Inbox", "Import",
      "Observers", "Session", "Database",
    ])
  static let server = StageOrder(
    folder: "Sources/Server/Server",
    stages: [
      "Store", "Security", "BigValues", "Inbox", "Replay", "Changes", "CacheGroups", "Outbox",
      "Push", "Core", "Accounts", "Intake", "Operations", "Desk", "Exchanges", "Callers", "Service",
      "Host",
    ])

  /// The verbs of the server's store by what they are about: each file has those of one subject.
  static let store = StageOrder(
    folder: "Sources/Server/SQLiteStore",
    stages: [
      "Start", "Sessions", "Register", "Connections", "Operations", "Desk", "Contents",
      "Partitions",
      "Rows", "Loads",
      "Upkeep",
    ], areFiles: true)

  /// The place of a file's stage; -1 for files beside the stage folders, which everyone may use
  /// and which name no stage; nil outside the side or in a folder that is no stage.
  func place(of path: String) -> Int? {
    guard path.hasPrefix(folder + "/") else { return nil }
    let parts = path.dropFirst(folder.count + 1).split(separator: "/")
    if areFiles {
      let name = path.dropLast(".swift".count).split(separator: "+")
      return name.count == 2 ? stages.firstIndex(of: String(name[1])) ?? 0 : 0
    }
    guard parts.count > 1 else { return -1 }
    return stages.firstIndex(of: String(parts[0]))
  }

  func violations(in files: [SourceFile]) -> [Violation] {
    let side = files.filter { $0.isIn(folder) }
    var homes: [String: Int] = [:]
    for file in side {
      guard let place = place(of: file.path) else { continue }
      for type in file.topLevelTypes { homes[type.text] = place }
    }
    return side.flatMap { file -> [Violation] in
      guard let own = place(of: file.path) else { return [unknownFolder(file)] }
      return laterNames(in: file, own: own, homes: homes)
    }
  }

  private func laterNames(
    in file: SourceFile, own: Int, homes: [String: Int]
  ) -> [Violation] {
    var told: Set<String> = []
    return file.tokens.enumerated().compactMap { index, token in
      guard let home = homes[token.text], home > own, told.insert(token.text).inserted,
        file.tokens.text(index - 1) != ".", file.tokens.text(index + 1) != ":"
      else { return nil }
      let name = own < 0 ? "a file beside the stages" : stages[own]
      return file.violation(
        token.line,
        "a stage never names a type of a later stage (\(stages.joined(separator: " ")))",
        "\(name) names \(token.text) of \(stages[home])",
        cure:
          "hand over a type of the earlier stage, or let \(stages.last ?? "") bring both together")
    }
  }

  private func unknownFolder(_ file: SourceFile) -> Violation {
    file.violation(
      1, "the folders of a side are its stages", "\(file.path) is in no stage",
      cure: "move it into one of \(stages.joined(separator: ", ")), or put the new stage where it "
        + "belongs in Tests/TidyTests/StageRules.swift and in a Decision")
  }
}

/// The server speaks to its store in verbs.
enum VerbRules {
  static func violations(in file: SourceFile) -> [Violation] {
    guard file.isIn(StageOrder.server.folder) else { return [] }
    return SQLWrite.statements(in: file).map {
      file.violation(
        $0.line, "no stage of the server speaks SQL", "SQL in \(file.path)",
        cure:
          "give Sources/Server/Server/Store a verb, and Sources/Server/SQLiteStore the SQL for it")
    }
  }
}

/// A machine decides and touches nothing.
enum MachineRules {
  static func violations(in file: SourceFile, hands: Set<String>) -> [Violation] {
    guard file.path.hasSuffix("Machine.swift") else { return [] }
    let rule = "a machine is a pure value: event in, actions out"
    let words: Set = ["async", "await", "Task", "Thread", "DispatchQueue", "AsyncStream"]
    let waiting = file.tokens.filter { words.contains($0.text) }.map {
      file.violation(
        $0.line, rule, "\($0.text) in a machine",
        cure: "return an action and let the one who acts wait")
    }
    let touching = Import.all(in: file).filter { hands.contains($0.module) }.map {
      file.violation(
        $0.line, rule, "import of the hand \($0.module) in a machine",
        cure: "return an action and let the one who acts touch it")
    }
    let asking = SQLWrite.statements(in: file).map {
      file.violation($0.line, rule, "SQL in a machine", cure: "move the SQL into the stage's store")
    }
    return waiting + touching + asking
  }
}
