/// The device's store is the file; the stages are types of their own over one of its transactions.
///
/// Two lists name what is not so yet. A file or a call that is not in its list is a violation, and
/// so is an entry that nothing needs any more: the lists can only become shorter.
struct StoreRules {
  var order = StageOrder.client
  var files: Set<String> = StoreRules.extendingFiles
  var calls: Set<String> = StoreRules.backwardCalls

  static let extendingFiles: Set<String> = Set(
    [
      "Pending/Chain", "Pending/Cancel", "Pending/PendingStore", "Pending/ClientOnly",
      "Pending/JoinedChanges",
    ].map { "Sources/Client/\($0).swift" })

  /// A stage calls a member of the store that a later stage has added.
  static let backwardCalls: Set<String> = []

  private static let rule = "the store is the file, and a stage is a type over a transaction"

  func violations(in all: [SourceFile]) -> [Violation] {
    let side = all.filter { $0.isIn(order.folder) }
    return extensions(in: side) + calls(in: side)
  }

  private func extensions(in side: [SourceFile]) -> [Violation] {
    let found = side.filter { !$0.isIn("\(order.folder)/Store") && !$0.storeMembers.isEmpty }
    let new = found.filter { !files.contains($0.path) }.map {
      $0.violation(
        1, Self.rule, "\($0.path) extends Store",
        cure: "make it a type with `let transaction: Transaction`")
    }
    return new + files.subtracting(found.map(\.path)).sorted().map(unneeded)
  }

  private func calls(in side: [SourceFile]) -> [Violation] {
    var homes: [String: Int] = [:]
    for file in side {
      guard let place = order.place(of: file.path) else { continue }
      for name in file.storeMembers { homes[name] = min(homes[name] ?? place, place) }
    }
    var needed: Set<String> = []
    let new = side.flatMap { file -> [Violation] in
      guard let own = order.place(of: file.path), own >= 0 else { return [] }
      return file.storeCalls.compactMap { token in
        guard let home = homes[token.text], home > own else { return nil }
        let call = "\(order.stages[own]) calls \(token.text) of \(order.stages[home])"
        guard needed.insert(call).inserted, !calls.contains(call) else { return nil }
        return file.violation(
          token.line, Self.rule, call, cure: "move what both need into the earlier stage")
      }
    }
    return new + calls.subtracting(needed).sorted().map(unneeded)
  }

  private func unneeded(_ entry: String) -> Violation {
    Violation(
      file: "Tests/TidyTests/StoreRules.swift", line: 1, rule: Self.rule,
      found: "\(entry) is listed, and nothing needs that", cure: "remove the entry")
  }
}

extension SourceFile {
  /// The members that the file's extensions of `Store` declare.
  var storeMembers: Set<String> {
    var members: Set<String> = []
    var depth = 0
    var isInside = false
    for index in tokens.indices {
      switch tokens[index].text {
      case "{": depth += 1
      case "}":
        depth -= 1
        if depth == 0 { isInside = false }
      case "extension" where depth == 0: isInside = tokens.text(index + 1) == "Store"
      case "func", "var", "let":
        guard isInside, depth == 1, tokens.text(index - 1) != "private" else { continue }
        members.insert(tokens.text(index + 1))
      default: break
      }
    }
    return members
  }

  /// The members that are called on a store, and in an extension of `Store` on `self` or by name. A
  /// name that is a parameter of the file is no member.
  var storeCalls: [Token] {
    let extends = !storeMembers.isEmpty
    let parameters = Set(
      tokens.indices.filter { tokens.text($0 + 1) == ":" }.map { tokens[$0].text })
    return tokens.indices.compactMap { index in
      guard tokens.text(index - 1) != "func" else { return nil }
      if tokens.text(index - 1) == "." {
        let owner = tokens.text(index - 2)
        return owner == "store" || owner == "self" && extends ? tokens[index] : nil
      }
      let isCall = extends && tokens.text(index + 1) == "("
      return isCall && !parameters.contains(tokens[index].text) ? tokens[index] : nil
    }
  }
}
