import FerryModel

/// What one device told its app of answers, held against the answers that the server has.
struct KillCallbacks {
  /// What stands for an answer on either side.
  struct Word: CustomStringConvertible {
    let isAccepted: Bool
    let kind: OperationKind
    /// An object that was created has two. One that was not created has none at the server: such
    /// answers can only be counted.
    let keys: [String]

    init(isAccepted: Bool, kind: OperationKind, keys: [String]) {
      self.isAccepted = isAccepted
      self.kind = kind
      self.keys = kind == .create && !isAccepted ? [] : keys
    }

    func isSame(_ other: Word) -> Bool {
      isAccepted == other.isAccepted && kind == other.kind
        && (keys.isEmpty && other.keys.isEmpty || keys.contains(where: other.keys.contains))
    }

    var description: String {
      "replay\(isAccepted ? "Success" : "Failure") of \(kind) \(keys.joined(separator: " or "))"
    }
  }

  let device: String
  /// Of this round.
  let answers: [Word]
  /// Of the round before it.
  let earlier: [Word]
  let told: [Word]
  /// How often the device was started since the round before this one began.
  let starts: Int

  /// Answers that were not told. What the app took back while it was under way need not be.
  func missing(_ ledger: KillLedger) -> [String] {
    distinct(answers).compactMap { word, owed in
      let objects =
        word.keys.isEmpty
        ? ledger.objects.filter { $0.device == device }
        : Array(word.keys.compactMap { ledger.find(device, ObjectKey(text: $0)) }.prefix(1))
      let withdrawn = objects.reduce(0) { $0 + ($1.withdrawn[word.kind] ?? 0) }
      let heard = told.filter(word.isSame).count
      guard heard < owed - withdrawn else { return nil }
      return "\(device): \(word): told \(heard) times, and there were \(owed) such answers"
    }
  }

  /// What was told and is no answer. A device tells again what it owed when it was killed.
  func invented() -> [String] {
    distinct(told).compactMap { word, heard in
      let now = answers.filter(word.isSame).count
      let before = earlier.filter(word.isSame).count
      guard heard > now + (now + before) * starts else { return nil }
      return "\(device): \(word): told \(heard) times, and the server gave \(now) such answers"
    }
  }

  private func distinct(_ words: [Word]) -> [(Word, Int)] {
    var counted: [(Word, Int)] = []
    for word in words {
      if let place = counted.firstIndex(where: { $0.0.isSame(word) }) {
        counted[place].1 += 1
      } else {
        counted.append((word, 1))
      }
    }
    return counted
  }
}
