import FerryModel

extension Translator {
  /// Devices only read what has no partition rule, unless the author opened it by name.
  mutating func closeWhatEveryoneGets() throws(GeneratorError) {
    var opened: Set<Int> = []
    if case .these(let names) = options.writable {
      for name in names { opened.insert(try draftIndex(name)) }
    } else {
      opened = Set(drafts.indices)
    }
    for index in drafts.indices
    where drafts[index].partition == nil && !opened.contains(index) {
      drafts[index].operations = []
      let table = drafts[index].table.name
      notes.append(
        Note(
          .restricted, table,
          "has no partition rule: every user gets its rows, and no user may change them",
          cure: "Give it a rule with --partition, or open it to everyone with --writable <table>."))
    }
  }

  /// Refuses a column that was asked for and is not there, so that a slip is seen.
  func checkKept() throws(GeneratorError) {
    guard case .these(let names) = options.kept else { return }
    let columns = schema.tables.flatMap { table in
      table.columns.map { "\(table.name).\($0.name)" }
    }
    for name in names where !columns.contains(where: { $0.lowercased() == name.lowercased() }) {
      throw GeneratorError(
        "\"\(name)\" is not a column of the database",
        hint: NearestWord.cure(name, among: columns))
    }
  }

  /// Whether the column stays in the business system because its name is that of a secret.
  mutating func keepsSecret(_ column: DatabaseSchema.Column, isKey: Bool, _ subject: String) -> Bool
  {
    guard let word = SecretName.word(in: column.name), !options.kept.has(subject) else {
      return false
    }
    guard !isKey else {
      notes.append(
        Note(
          .told, subject, "looks like a secret (\(word)) and is part of the key",
          cure: "It is sent to every device that gets the row. If it is a secret, use another key.")
      )
      return false
    }
    notes.append(
      Note(
        .leftOut, subject, "looks like a secret (\(word))",
        cure: "If devices should have it, name it with --keep <Table.Column>."))
    return true
  }
}

/// Names of columns that hold what no device should have without being asked for.
enum SecretName {
  /// Found anywhere in the name, whose letters and digits alone count.
  private static let parts: [String] = [
    "password", "passwd", "passwort", "passphrase", "secret", "salary", "privatekey", "apikey",
    "creditcard",
  ]
  /// Found as a word of the name, or at its end.
  private static let words: [String] = ["hash", "token", "tokens"]
  /// Found as a word of the name only: they are short, and other words end like them.
  private static let short: [String] = ["iban", "ssn", "pwd", "salt", "cvv", "cvc"]

  /// The word that gives it away; nil for a name like any other.
  static func word(in name: String) -> String? {
    let pieces = words(of: name)
    let joined = pieces.joined()
    if let part = parts.first(where: joined.contains) { return part }
    if let word = words.first(where: { pieces.contains($0) || joined.hasSuffix($0) }) {
      return word
    }
    return short.first(where: pieces.contains)
  }

  /// `passwordHash`, `password_hash` and `PASSWORD HASH` have the same two words.
  private static func words(of name: String) -> [String] {
    var pieces: [String] = []
    var piece = ""
    var wasLower = false
    for character in name {
      let breaks = !character.isLetter && !character.isNumber
      if breaks || character.isUppercase && wasLower {
        if !piece.isEmpty { pieces.append(piece) }
        piece = ""
      }
      if !breaks { piece += character.lowercased() }
      wasLower = character.isLowercase || character.isNumber
    }
    if !piece.isEmpty { pieces.append(piece) }
    return pieces
  }
}
