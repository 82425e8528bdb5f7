enum NameRules {
  /// Paths, targets or products that a disk without case would take for one.
  static func sameButForCase(_ names: [String], kind: String, file: String) -> [Violation] {
    var seen: [String: String] = [:]
    return names.compactMap { name in
      let lower = name.lowercased()
      guard let other = seen[lower] else {
        seen[lower] = name
        return nil
      }
      guard other != name || kind != "path" else { return nil }
      return Violation(
        file: file, line: 1, rule: "no two names differ only by case",
        found: "\(kind) \(name) beside \(other)", cure: "give one of them another name")
    }
  }

  /// A product is compared with the products of its kind, and an executable with the
  /// executable targets that are not its own.
  static func products(in map: PackageMap) -> [Violation] {
    let kinds = Set(map.products.map(\.kind)).sorted()
    let among = kinds.flatMap { kind in
      sameButForCase(
        map.products.filter { $0.kind == kind }.map(\.name), kind: kind, file: "Package.swift")
    }
    let others = map.products.filter { $0.kind == "executable" }.flatMap { product in
      sameButForCase(
        map.targets.filter { $0.kind == .program && !product.targets.contains($0.name) }
          .map(\.name) + [product.name], kind: "executable", file: "Package.swift")
    }
    return among + others
  }

  static func typesNamedLikeModules(in file: SourceFile, modules: Set<String>) -> [Violation] {
    file.topLevelTypes.filter { modules.contains($0.text) }.map {
      file.violation(
        $0.line, "no type is named like a module", $0.text,
        cure: "rename the type: with this name nobody can say Module.Type")
    }
  }

  static func forbiddenWords(in file: SourceFile) -> [Violation] {
    let endings = ["Manager", "Helper", "Helpers", "Util", "Utils", "Common", "Impl", "Base"]
    return file.topLevelTypes.filter { type in endings.contains { type.text.hasSuffix($0) } }.map {
      file.violation(
        $0.line, "a name says what a thing is", $0.text,
        cure: "name the idea (Documentation/Words.md), not that it helps or manages")
    }
  }

  /// `0007-a-name.md`, no number twice, each with its number in the title. Gaps are allowed: work
  /// that goes on side by side takes numbers that do not meet.
  static func decisions(_ files: [(name: String, firstLine: String)]) -> [Violation] {
    var taken: Set<Int> = []
    return files.sorted { $0.name < $1.name }.compactMap { file in
      let digits = file.name.prefix(4)
      let found: String
      if digits.count != 4 || file.name.dropFirst(4).first != "-" || Int(digits) == nil {
        found = "no number"
      } else if let number = Int(digits), !taken.insert(number).inserted {
        found = "\(digits) is taken"
      } else if !file.firstLine.hasPrefix("# \(digits). ") {
        found = "the title is \(file.firstLine)"
      } else {
        return nil
      }
      return Violation(
        file: "Documentation/Decisions/\(file.name)", line: 1,
        rule: "every Decision has a number: NNNN-name.md, # NNNN. Title, none twice",
        found: found, cure: "take a free number in the file's name and in its title")
    }
  }
}
