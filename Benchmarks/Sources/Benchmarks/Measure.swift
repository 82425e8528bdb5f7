/// One of the measures by number, with the code that takes it.
///
/// To add one: a file of its own with a `static let`, and a line in `all`.
struct Measure: Sendable {
  let number: Int
  let name: String
  /// Takes the figures; at least as many rounds as it is given.
  let take: @Sendable (_ rounds: Int) throws -> [Figure]

  static let all: [Measure] = [encryption]
}

/// What was found: ours against the limit, and whether that is good enough.
struct Figure: Codable, Sendable {
  let measure: Int
  let name: String
  /// How many of them.
  let n: Int
  /// What the figures count.
  let unit: String
  let limit: Double
  let ours: Double
  let ratio: Double
  /// As a person would say it; empty when nothing was promised.
  let aim: String
  /// nil when nothing was promised.
  let met: Bool?

  /// Less is better: seconds, bytes.
  static func atMost(
    _ aim: Double?, measure: Int, name: String, n: Int, unit: String, limit: Double, ours: Double
  ) -> Figure {
    let ratio = ours / limit
    return Figure(
      measure: measure, name: name, n: n, unit: unit, limit: limit, ours: ours, ratio: ratio,
      aim: aim.map { "<= \($0)" } ?? "", met: aim.map { ratio <= $0 })
  }

  /// More is better: rows a second.
  static func atLeast(
    _ aim: Double?, measure: Int, name: String, n: Int, unit: String, limit: Double, ours: Double
  ) -> Figure {
    let ratio = ours / limit
    return Figure(
      measure: measure, name: name, n: n, unit: unit, limit: limit, ours: ours, ratio: ratio,
      aim: aim.map { ">= \($0)" } ?? "", met: aim.map { ratio >= $0 })
  }
}

func median(_ values: [Double]) -> Double {
  precondition(!values.isEmpty, "a median of nothing")
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Seconds that `body` takes by the wall clock.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  let time = try ContinuousClock().measure(body)
  return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
}
