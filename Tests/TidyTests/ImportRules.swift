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
    if target.kind == .tests {
      allowed.formUnion(["Testing", "FoundationNetworking", "FerryTestTraits"])
    }
    // Traits: only test targets link them.
    if ["FerryTesting", "FerryTestTraits"].contains(target.name) { allowed.insert("Testing") }
    if target.kind == .plugin { allowed.insert("PackagePlugin") }
    return Import.all(in: file).filter { !allowed.contains($0.module) }.map {
      file.violation(
        $0.line, rule, "import \($0.module) in \(target.name)",
        cure:
          "do without it, or name it in line \(target.line) of Package.swift if the streets allow")
    }
  }

  /// What an app is given with `import Ferry`.
  static let exports = "Sources/Circle/Device/Exports.swift"

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
    "linuxServer", "linuxTools", "linuxProof", "linuxSamples",
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
