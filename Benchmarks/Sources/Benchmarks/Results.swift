import Foundation

/// A run: where, when and of what it was, and what it found.
struct Results: Codable, Sendable {
  /// Of the build that was measured; `-changed` behind it where files were.
  let commit: String
  let date: String
  let machine: String
  let rounds: Int
  let isQuick: Bool
  var figures: [Figure] = []
  /// The measures that could not be taken.
  var failed: [Int] = []

  init(_ setting: Setting, commit: String) {
    self.commit = commit
    rounds = setting.rounds
    isQuick = setting.isQuick
    date = String(Date.now.formatted(.iso8601).prefix(10))
    let process = ProcessInfo.processInfo
    let memory = process.physicalMemory >> 30
    machine =
      "\(process.processorCount) cores, \(memory) GB, \(process.operatingSystemVersionString)"
  }
}
