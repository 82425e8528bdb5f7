/// The numbers of the rounds of one series, from 0 on: as many as were asked for, and fewer where
/// the machine is so slow that they would take longer than the series may.
struct Rounds: Sequence, IteratorProtocol {
  private let most: Int
  private let fewest: Int
  private let budgetSeconds: Double
  private let start = ContinuousClock.now
  private var taken = 0

  init(most: Int, fewest: Int, budgetSeconds: Double) {
    self.most = most
    self.fewest = fewest
    self.budgetSeconds = budgetSeconds
  }

  mutating func next() -> Int? {
    let spent = start.duration(to: .now).seconds
    // Another one takes about as long as those before.
    let isTooLate =
      taken >= fewest && spent * Double(taken + 1) > budgetSeconds * Double(taken)
    guard taken < most, !isTooLate else { return nil }
    defer { taken += 1 }
    return taken
  }
}
