/// The device's store is the file; the stages are types of their own over one of its transactions.
enum StoreRules {
  static func violations(in all: [SourceFile]) -> [Violation] {
    let folder = StageOrder.client.folder
    return all.filter { $0.isIn(folder) && !$0.isIn("\(folder)/Store") }.flatMap { file in
      file.tokens.indices.filter { index in
        file.tokens[index].text == "extension"
          && ["Store", "Transaction"].contains(file.tokens.text(index + 1))
      }.map { index in
        file.violation(
          file.tokens[index].line,
          "the store is the file, and a stage is a type over a transaction",
          "\(file.path) extends \(file.tokens.text(index + 1))",
          cure: "make it a type with `let transaction: Transaction`")
      }
    }
  }
}
