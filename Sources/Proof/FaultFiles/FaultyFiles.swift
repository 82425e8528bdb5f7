import FerryWorld
import Synchronization

/// The machine's files with a fault at a step that a test chooses.
///
/// Every change of the disk is a step: to create a file, each write, to finish it, to move and to
/// remove. The steps are counted from 0 on since `plan` was called last.
package final class FaultyFiles: FileAccess {
  /// What happens at the chosen step.
  package enum Fault: Sendable, Equatable {
    /// The step fails with this cause, and so does every later one: a disk that stays full.
    case failing(FileError.Cause)
    /// The step alone fails.
    case failingOnce(FileError.Cause)
    /// The step is done by half, then nothing more is: the process was killed.
    case killed
  }

  private struct Plan {
    var fault: Fault?
    var step = 0
    var count = 0
  }

  private let files: any FileAccess
  private let state = Mutex(Plan())

  package init(_ files: any FileAccess = SystemFiles()) { self.files = files }

  /// From now on the fault happens at this step; nil is no fault.
  package func plan(_ fault: Fault?, at step: Int = 0) {
    state.withLock { $0 = Plan(fault: fault, step: step) }
  }

  /// How many steps were asked for since `plan`.
  package var steps: Int { state.withLock { $0.count } }

  /// Whether the fault has happened.
  package var hasFailed: Bool { state.withLock { $0.fault != nil && $0.count > $0.step } }

  /// nil when the step is to be done; true when it is to be done by half before it fails.
  fileprivate func begin(_ path: String) -> (error: FileError, isHalf: Bool)? {
    state.withLock { plan in
      defer { plan.count += 1 }
      guard let fault = plan.fault, plan.count >= plan.step else { return nil }
      switch fault {
      case .failing(let cause): return (FileError(cause, path: path), false)
      case .failingOnce(let cause):
        return plan.count == plan.step ? (FileError(cause, path: path), false) : nil
      case .killed: return (FileError(.system(9), path: path), plan.count == plan.step)
      }
    }
  }

  /// A step that is done whole or not at all.
  private func whole(_ path: String) throws(FileError) {
    if let stop = begin(path) { throw stop.error }
  }

  package func read(_ path: String, atMost limitBytes: Int) throws(FileError) -> [UInt8]? {
    try files.read(path, atMost: limitBytes)
  }

  package func create(_ path: String) throws(FileError) -> any FileWriter {
    try whole(path)
    return FaultyWriter(try files.create(path), path, self)
  }

  package func open(_ path: String) throws(FileError) -> (any FileReader)? {
    try files.open(path)
  }

  package func move(_ path: String, to target: String) throws(FileError) {
    try whole(path)
    try files.move(path, to: target)
  }

  package func remove(_ path: String) throws(FileError) -> Bool {
    try whole(path)
    return try files.remove(path)
  }

  package func names(in folder: String) throws(FileError) -> [String]? {
    try files.names(in: folder)
  }

  package func createFolder(_ path: String) throws(FileError) {
    try whole(path)
    try files.createFolder(path)
  }

  package func removeFolder(_ path: String) throws(FileError) -> Bool {
    try whole(path)
    return try files.removeFolder(path)
  }

  package func lock(_ path: String, within: Duration) throws(FileError) -> any FileLock {
    try files.lock(path, within: within)
  }
}

private final class FaultyWriter: FileWriter {
  private let writer: any FileWriter
  private let path: String
  private let files: FaultyFiles

  init(_ writer: any FileWriter, _ path: String, _ files: FaultyFiles) {
    self.writer = writer
    self.path = path
    self.files = files
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
    if let stop = files.begin(path) {
      if stop.isHalf {
        try writer.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]))
        try writer.finish()
      }
      throw stop.error
    }
    try writer.write(bytes)
  }

  func finish() throws(FileError) {
    if let stop = files.begin(path) { throw stop.error }
    try writer.finish()
  }
}
