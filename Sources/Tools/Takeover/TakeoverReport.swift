/// What a takeover has done, or would do.
package struct TakeoverReport: Sendable {
  /// Entries that became pending operations, by what they do.
  package var counts: [TakeoverMapping.Verb: Int] = [:]
  /// Entries that an earlier run has taken over.
  package var skipped = 0
  /// Entries that cannot be taken over, the first thousand; none of their transaction is.
  package var faults: [TakeoverFault] = []
  package var faultCount = 0

  package var entryCount: Int { counts.values.reduce(0, +) }
}
