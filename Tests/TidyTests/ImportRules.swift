/// An import with the conditions it stands under.
struct Import: Equatable {
  let module: String
  let line: Int
  /// The `#if` conditions around it, innermost last.
  let conditions: [String]

  /// Every import of a file, whatever attributes and access levels stand before it.
  static func all(in file: SourceFile) -> [Import] {
    var conditions: [String] = []
    var found: [Import] = []
    for (number, line) in file.text.code.enumerated() {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("#if") {
        conditions.append(String(text))
      } else if text.hasPrefix("#else") {
        _ = conditions.popLast()
        conditions.append(String(text))
      } else if text.hasPrefix("#endif") {
        _ = conditions.popLast()
      } else if let module = module(in: String(text)) {
        found.append(Import(module: module, line: number + 1, conditions: conditions))
      }
    }
    return found
  }

  private static func module(in line: String) -> String? {
    guard line.contains("import ") else { return nil }
    let tokens = Token.all(in: [line])
    let access: Set = ["public", "package", "internal", "fileprivate", "private"]
    let kinds: Set = [
      "struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor",
    ]
    var index = 0
    while access.contains(tokens.text(index)) || tokens.text(index) == "@" {
      index += tokens.text(index) == "@" ? 2 : 1
      if tokens.text(index) == "(" {
        while index < tokens.count, tokens.text(index) != ")" { index += 1 }
        index += 1
      }
    }
    guard tokens.text(index) == "import" else { return nil }
    if kinds.contains(tokens.text(index + 1)) { index += 1 }
    return tokens.indices.contains(index + 1) ? tokens[index + 1].text : nil
  }
}

enum ImportRules {
  /// Modules that come with the toolchain or the system, and need no line.
  static let system: Set = [
    "Swift", "Foundation", "FoundationEssentials", "Dispatch", "Synchronization", "Observation",
    "Glibc", "Musl", "Darwin", "CryptoKit", "CommonCrypto", "Security", "SwiftUI", "os",
  ]

  static func violations(in file: SourceFile, map: PackageMap) -> [Violation] {
    let rule = "a file imports only what its target's line in Package.swift names"
    guard let target = map.target(of: file.path) else {
      return [
        file.violation(
          1, rule, "no target of Package.swift holds this file",
          cure: "move it into a target's folder, or give Package.swift a line for it")
      ]
    }
    var allowed = system.union(target.dependencies)
    if target.kind == .tests { allowed.formUnion(["Testing", "FoundationNetworking"]) }
    // The trait for simulated tests: only test targets link it.
    if target.name == "FerryTesting" { allowed.insert("Testing") }
    if target.kind == .plugin { allowed.insert("PackagePlugin") }
    return Import.all(in: file).filter { !allowed.contains($0.module) }.map {
      file.violation(
        $0.line, rule, "import \($0.module) in \(target.name)",
        cure:
          "do without it, or name it in line \(target.line) of Package.swift if the layers allow")
    }
  }

  /// What an app is given with `import Ferry`.
  static let exports = "Sources/Client/Exports.swift"

  /// A module that re-exports another opens a door that no line names.
  static func reexports(in file: SourceFile) -> [Violation] {
    guard file.path != exports else { return [] }
    return file.tokens.filter { $0.text == "_exported" }.map {
      file.violation(
        $0.line, "only \(exports) re-exports a module", "@_exported",
        cure: "let the one who needs the module import it")
    }
  }

  /// Lists of Package.swift that stand behind its `#if os(Linux)`.
  static let onLinuxOnly: Set = [
    "serverHands", "serverParts", "serverStores", "serverTools", "simulation", "programs",
  ]

  static func glibc(
    in file: SourceFile, map: PackageMap, clientModules: Set<String>
  )
    -> [Violation]
  {
    let name = map.target(of: file.path)?.name ?? ""
    let open = !clientModules.contains(name) || map.hands.contains(name) || name == "FerryWorld"
    return Import.all(in: file).filter { $0.module == "Glibc" }.flatMap { found -> [Violation] in
      var violations: [Violation] = []
      let isGuarded = (found.conditions.last ?? "").contains("canImport(Glibc)")
      if !isGuarded && !onLinuxOnly.contains(map.target(of: file.path)?.section ?? "") {
        violations.append(
          file.violation(
            found.line, "Glibc stands behind #if canImport(Glibc)",
            "import Glibc without condition",
            cure: "write #if canImport(Darwin) import Darwin #elseif canImport(Glibc) import Glibc")
        )
      }
      if !open {
        violations.append(
          file.violation(
            found.line, "of what ships to a phone only hands and World touch the C library",
            "import Glibc in \(name)", cure: "ask World or a hand for what it is needed for"))
      }
      return violations
    }
  }
}

enum LayerRules {
  /// Sections of Package.swift from the lowest to the highest.
  static let layers: [String: Int] = [
    "clientLibraries": 0, "serverLibraries": 0, "words": 1, "hands": 2, "serverHands": 2,
    "parts": 3, "serverParts": 3, "sides": 4, "stores": 5, "serverStores": 5, "tools": 5,
    "serverTools": 5,
    "simulation": 6,
    "kits": 6, "samples": 6, "programs": 7,
    "proofs": 8, "serverProofs": 8,
  ]

  /// Words that hold a C library all the same: it parses, and opens nothing.
  static let wordsWithLibrary: Set = ["FerryOData"]

  /// Modules that must not reach each other, in either direction.
  static let strangers = [("FerryOData", "FerryModel"), ("Ferry", "FerryServer")]

  static func violations(in map: PackageMap) -> [Violation] {
    map.targets.flatMap { target in layer(of: target, in: map) }
      + oneHandPerLibrary(in: map) + strangersMeet(in: map) + phone(in: map)
  }

  private static func layer(of target: PackageMap.Target, in map: PackageMap) -> [Violation] {
    let rule =
      "arrows point down: words, hands, parts, sides, stores, tools, simulation, programs, proofs"
    guard let own = layers[target.section] else {
      return [
        violation(
          target, rule, "\(target.name) stands in no layer",
          cure:
            "put its line into one of the lists: \(layers.keys.sorted().joined(separator: ", "))")
      ]
    }
    return target.dependencies.compactMap { name in
      guard let other = map.target(named: name) else {
        return violation(
          target, rule, "\(target.name) names \(name), which is no target",
          cure: "correct the name")
      }
      if [.library, .native].contains(other.kind) && own != 2
        && !wordsWithLibrary.contains(target.name)
      {
        return violation(
          target, "only hands touch C libraries", "\(target.name) names \(name)",
          cure: "use the hand that has \(name)")
      }
      let level = layers[other.section] ?? 0
      let isSideways = level == own && target.section == "sides"
      guard level > own || isSideways else { return nil }
      return violation(
        target, rule, "\(target.name) (\(target.section)) names \(name) (\(other.section))",
        cure: "move what both need into a lower layer")
    }
  }

  private static func oneHandPerLibrary(in map: PackageMap) -> [Violation] {
    map.libraries.sorted().flatMap { library in
      map.targets.filter { $0.dependencies.contains(library) }.dropFirst().map { second in
        violation(
          second, "a C library is imported by one module",
          "\(second.name) is the second with \(library)",
          cure: "use the module that has it, and give that one what is missing")
      }
    }
  }

  private static func strangersMeet(in map: PackageMap) -> [Violation] {
    strangers.flatMap { [($0.0, $0.1), ($0.1, $0.0)] }.compactMap { one, other in
      guard let target = map.target(named: one), map.closure(of: one).contains(other) else {
        return nil
      }
      return violation(
        target, "\(one) and \(other) never reach each other", "\(one) reaches \(other)",
        cure: "let a third module that may know both stand between them")
    }
  }

  private static func phone(in map: PackageMap) -> [Violation] {
    guard let client = map.target(named: "Ferry") else { return [] }
    let server = map.names(in: "serverLibraries", "serverHands")
    return map.closure(of: "Ferry").intersection(server).sorted().map {
      violation(
        client, "what ships to a phone needs no library of the server", "Ferry reaches \($0)",
        cure: "take the way to it out of the client's modules")
    }
  }

  private static func violation(
    _ target: PackageMap.Target, _ rule: String, _ found: String, cure: String
  ) -> Violation {
    Violation(file: "Package.swift", line: target.line, rule: rule, found: found, cure: cure)
  }
}
