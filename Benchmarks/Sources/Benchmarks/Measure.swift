import Foundation

/// One of the measures by number, with the code that takes it.
struct Measure: Sendable {
  let number: Int
  let name: String
  /// Takes the figures, each against its limit in the same run. A peer that is not there is said
  /// (`Setting.say`), and the rest is measured.
  let take: @Sendable (Setting) async throws -> [Figure]
}

func median(_ values: [Double]) -> Double {
  precondition(!values.isEmpty, "a median of nothing")
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The value that 99 of 100 do not exceed.
func percentile99(_ values: [Double]) -> Double {
  precondition(!values.isEmpty, "a percentile of nothing")
  return values.sorted()[(values.count * 99 - 1) / 100]
}

/// Seconds that this process is on a processor for `body`: what else the machine does is not in
/// them.
func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
  let start = clock()
  try body()
  return Double(clock() - start) / Double(CLOCKS_PER_SEC)
}

/// Seconds that `body` takes by the wall clock.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  try ContinuousClock().measure(body).seconds
}

/// Seconds that `body` takes by the wall clock.
func seconds(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async rethrows -> Double {
  let start = ContinuousClock.now
  try await body()
  return start.duration(to: .now).seconds
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
