import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryWorld

/// A connection that performs beside the first one, on a thread of its own.
final class Lane: Sendable {
  /// Of the thread alone.
  private final class Line {
    var writer: Writer?
  }

  private let executor: ThreadExecutor
  private let line: Confined<Line>

  init() {
    executor = ThreadExecutor(name: "ferry-lane")
    line = Confined(Line(), on: executor)
  }

  /// What a lane has come to.
  struct Result: Sendable {
    /// One for each group; nil where there was no connection and nothing was tried.
    var results: [PerformResult]?
    /// Transactions that were committed.
    var transactions: [String] = []
    /// Whether others, perhaps another lane, were in the way.
    var hasConflicted: Bool = false
  }

  /// Begins to perform; what is returned waits for the end.
  func begin(
    _ groups: [[ConnectorOperation]], isPrepared: Bool,
    _ connect: @escaping @Sendable () -> sending Writer?
  ) -> @Sendable () -> Result {
    let line = line
    return executor.begin {
      let line = line.value
      if line.writer?.connection.isOpen != true { line.writer = connect() }
      guard let writer = line.writer else { return Result(results: nil) }
      writer.isPrepared = isPrepared
      return Lane.run(groups, writer)
    }
  }

  /// How many groups in a row may fail before the others of the lane are given back untried.
  private static let mostFailures: Int = 2
  static let untried: String = "The line to the business database broke before it was tried."

  /// Performs all groups in their order, in as many transactions as that takes.
  static func run(_ groups: [[ConnectorOperation]], _ writer: Writer) -> Result {
    var result = Result()
    var results: [PerformResult] = []
    var failures = 0
    writer.beginRun()
    while results.count < groups.count {
      let rest = writer.takesGroups ? Array(groups[results.count...]) : [groups[results.count]]
      results += writer.perform(rest, while: { true })
      if case .notDone? = results.last { failures += 1 } else { failures = 0 }
      guard writer.connection.isOpen, failures < mostFailures else { break }
    }
    var reason = untried
    if case .notDone(let last)? = results.last { reason = last }
    while results.count < groups.count { results.append(.notDone(reason: reason)) }
    result.results = results
    result.transactions = writer.committed
    result.hasConflicted = writer.hasConflicted
    return result
  }
}
