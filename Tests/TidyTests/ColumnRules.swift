/// The stage that writes a column; more than one only for a reason.
struct ColumnWriter: ExpressibleByStringLiteral {
  let stages: [String]
  let reason: String

  init(stringLiteral stage: String) {
    stages = [stage]
    reason = ""
  }

  private init(stages: [String], reason: String) {
    self.stages = stages
    self.reason = reason
  }

  static func shared(_ stages: String..., because reason: String) -> ColumnWriter {
    ColumnWriter(stages: stages, reason: reason)
  }
}

enum ColumnRules {
  static func violations(
    in files: [SourceFile], order: StageOrder, writers: [String: ColumnWriter]
  ) -> [Violation] {
    guard !writers.isEmpty else { return [] }
    let rule = "each column of a stage's state has one stage that writes it"
    return files.filter { $0.isIn(order.folder) }.flatMap { file -> [Violation] in
      let place = order.place(of: file.path) ?? -1
      let stage = place < 0 ? "no stage" : order.stages[place]
      return SQLWrite.statements(in: file).filter { !$0.table.isEmpty }.flatMap { write in
        write.columns.compactMap { column in
          let key = "\(write.table).\(column)"
          guard let writer = writers[key] else {
            return file.violation(
              write.line, rule, "\(stage) writes \(key), which is not listed",
              cure: "name its one writer in Tests/TidyTests/StateColumns.swift")
          }
          guard !writer.stages.contains(stage) else { return nil }
          let owner = writer.stages.joined(separator: " and ")
          return file.violation(
            write.line, rule, "\(stage) writes \(key), which is \(owner)'s",
            cure: "hand \(owner) a value and let it write")
        }
      }
    }
  }

  /// Entries that name a stage the side does not have, or share a column without a reason.
  static func badEntries(_ writers: [String: ColumnWriter], order: StageOrder) -> [String] {
    writers.filter { _, writer in
      writer.stages.contains { !order.stages.contains($0) }
        || writer.stages.count > 1 && writer.reason.isEmpty
    }.map(\.key).sorted()
  }
}
