/// Package.swift as these tests understand it: one line per target, in sections that are streets.
struct PackageMap {
  struct Target: Equatable {
    enum Kind: String { case module, target, program, tests, library, native, plugin }

    let name: String
    let kind: Kind
    let path: String
    let dependencies: [String]
    /// The list in Package.swift that the target stands in; empty when in none.
    let section: String
    let line: Int
  }

  let targets: [Target]
  /// Names of products with their kind (`library`, `executable`, `plugin`).
  let products: [(name: String, kind: String, targets: [String])]

  init(_ text: String) {
    let reader = CallReader(text)
    let sections = reader.sections
    targets = Target.Kind.allNames.flatMap { kind in
      reader.calls(kind.callee).compactMap { call in
        PackageMap.target(kind, call, sections: sections)
      }
    }.sorted { $0.line < $1.line }
    products = ["library", "executable", "plugin"].flatMap { kind in
      reader.calls("." + kind).compactMap { call in
        guard let name = call.literals.first, call.labels.contains("targets") else { return nil }
        return (name, kind, Array(call.literals.dropFirst()))
      }
    }
  }

  private static func target(
    _ kind: Target.Kind, _ call: CallReader.Call,
    sections: [(name: String, range: Range<Int>)]
  ) -> Target? {
    guard let name = call.literals.first else { return nil }
    let section = sections.first { $0.range.contains(call.position) }?.name ?? ""
    let rest = Array(call.literals.dropFirst())
    let path: String
    let dependencies: [String]
    switch kind {
    case .module: (path, dependencies) = ("Sources/" + (rest.first ?? ""), Array(rest.dropFirst()))
    case .target:
      guard call.labels.contains("path"), let last = rest.last else { return nil }
      (path, dependencies) = (last, Array(rest.dropLast()))
    case .program: (path, dependencies) = (rest.first ?? "", Array(rest.dropFirst()))
    case .tests: (path, dependencies) = ("Tests/" + (rest.first ?? ""), Array(rest.dropFirst()))
    case .library, .native: (path, dependencies) = ("Sources/System/" + name, [])
    case .plugin:
      guard call.labels.contains("capability") else { return nil }
      (path, dependencies) = ("Plugins/" + name, rest)
    }
    return Target(
      name: name, kind: kind, path: path, dependencies: dependencies, section: section,
      line: call.line)
  }

  func target(named name: String) -> Target? { targets.first { $0.name == name } }

  /// The target that a file belongs to: the one with the longest path above it.
  func target(of path: String) -> Target? {
    targets.filter { path.hasPrefix($0.path + "/") }.max { $0.path.count < $1.path.count }
  }

  /// Everything a target reaches, itself included.
  func closure(of name: String) -> Set<String> {
    var reached: Set = [name]
    var waiting = [name]
    while let next = waiting.popLast() {
      for dependency in target(named: next)?.dependencies ?? []
      where reached.insert(dependency).inserted {
        waiting.append(dependency)
      }
    }
    return reached
  }

  func names(in sections: String...) -> Set<String> {
    Set(targets.filter { sections.contains($0.section) }.map(\.name))
  }

  /// The modules that touch something outside: a disk, a socket, a library of C.
  var hands: Set<String> { StreetRules.hands.intersection(targets.map(\.name)) }
  var libraries: Set<String> {
    Set(targets.filter { [.library, .native].contains($0.kind) }.map(\.name))
  }
}

extension PackageMap.Target.Kind {
  static let allNames: [PackageMap.Target.Kind] = [
    .module, .target, .program, .tests, .library, .native, .plugin,
  ]

  /// How Package.swift calls it.
  var callee: String { self == .plugin || self == .target ? "." + rawValue : rawValue }
}

/// Finds calls in Package.swift and the literals they are given.
private struct CallReader {
  struct Call {
    let position: Int
    let line: Int
    /// Literals up to `resources:` and `plugins:`, which name files and tools, no modules.
    let literals: [String]
    let labels: Set<String>
  }

  private let raw: [UInt8]
  private let code: [UInt8]

  init(_ text: String) {
    raw = Array(text.utf8)
    code = Array(SwiftText(text).code.joined(separator: "\n").utf8)
  }

  func calls(_ callee: String) -> [Call] {
    positions(of: callee + "(").filter { position in
      guard position > 0, !callee.hasPrefix(".") else { return true }
      let before = code[position - 1]
      return !Token.isWordByte(before) && before != UInt8(ascii: ".") && !follows("func ", position)
    }.map { position in
      call(position, opening: position + callee.utf8.count)
    }
  }

  /// `let name: [Target] = [ … ]`
  var sections: [(name: String, range: Range<Int>)] {
    positions(of: ": [Target] = [").compactMap { position in
      var start = position
      while start > 0, Token.isWordByte(code[start - 1]) { start -= 1 }
      guard follows("let ", start) else { return nil }
      let opening = position + ": [Target] = ".utf8.count
      let name = String(decoding: code[start..<position], as: UTF8.self)
      return (name, opening..<closing(opening))
    }
  }

  private func call(_ position: Int, opening: Int) -> Call {
    var end = closing(opening)
    for label in ["resources:", "plugins:"] {
      end = positions(of: label).first { (opening..<end).contains($0) } ?? end
    }
    var literals: [String] = []
    var start: Int?
    for index in opening..<end where code[index] == UInt8(ascii: "\"") {
      if let from = start {
        literals.append(String(decoding: raw[from..<index], as: UTF8.self))
        start = nil
      } else {
        start = index + 1
      }
    }
    let words = Token.all(in: [String(decoding: code[opening..<end], as: UTF8.self)])
    let labels = words.indices.filter { words.text($0 + 1) == ":" }.map { words[$0].text }
    let line = code[..<position].count { $0 == UInt8(ascii: "\n") } + 1
    return Call(position: position, line: line, literals: literals, labels: Set(labels))
  }

  private func positions(of text: String) -> [Int] {
    let bytes = Array(text.utf8)
    guard code.count >= bytes.count else { return [] }
    return (0...(code.count - bytes.count)).filter { code[$0] == bytes[0] }
      .filter { code[$0..<($0 + bytes.count)].elementsEqual(bytes) }
  }

  private func follows(_ text: String, _ position: Int) -> Bool {
    let count = text.utf8.count
    return position >= count && code[(position - count)..<position].elementsEqual(text.utf8)
  }

  /// Where the bracket at `opening` closes.
  private func closing(_ opening: Int) -> Int {
    var depth = 0
    for index in opening..<code.count {
      switch code[index] {
      case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    return code.count
  }
}
