/// The files of a device, as the kit's stores need them: a file is replaced whole or not at all.
///
/// `SystemFiles` are the machine's own. A test gives its own and lets any step fail. All calls block
/// their thread until the disk has answered, and may be made from any thread.
public protocol FileAccess: Sendable {
  /// All bytes of a file; nil when there is none. A file above the limit is `.tooLarge`.
  func read(_ path: String, atMost limitBytes: Int) throws(FileError) -> [UInt8]?
  /// A new, empty file that only this user may read; one with this name is emptied.
  func create(_ path: String) throws(FileError) -> any FileWriter
  /// A file to read from its beginning; nil when there is none.
  func open(_ path: String) throws(FileError) -> (any FileReader)?
  /// Gives a file another name in one step; a file that had this name is replaced. Both folders are
  /// on the disk afterwards.
  func move(_ path: String, to target: String) throws(FileError)
  /// False when there was no such file.
  @discardableResult
  func remove(_ path: String) throws(FileError) -> Bool
  /// The names in a folder, in no order; nil when there is no folder.
  func names(in folder: String) throws(FileError) -> [String]?
  /// Makes the folder and those above it, for this user alone; does nothing when it is there.
  func createFolder(_ path: String) throws(FileError)
  /// Removes an empty folder; false when there was none.
  @discardableResult
  func removeFolder(_ path: String) throws(FileError) -> Bool
  /// Keeps out every other thread and process that asks for the same lock, until the lock is
  /// released. `.busy` when the time is over.
  func lock(_ path: String, within: Duration) throws(FileError) -> any FileLock
}

/// A file that is being written, for one thread at a time.
public protocol FileWriter: AnyObject {
  /// Appends the bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws(FileError)
  /// Brings all bytes to the disk and closes the file. Without it the file stays as it is.
  func finish() throws(FileError)
}

/// A file that is being read, for one thread at a time.
public protocol FileReader: AnyObject {
  /// The size of the file when it was opened.
  var sizeBytes: Int { get }
  /// Fills the memory as far as the file goes on; returns the number of bytes, 0 at the end.
  func read(into memory: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
}

/// A lock that is held until `release` or until nobody has it.
public protocol FileLock: AnyObject, Sendable {
  /// Lets the next one in; a second call does nothing.
  func release()
}

extension FileWriter {
  /// Appends the bytes.
  public func write(_ bytes: [UInt8]) throws(FileError) {
    let result: Result<Void, FileError> = bytes.withUnsafeBytes { memory in
      Result { () throws(FileError) in try write(memory) }
    }
    try result.get()
  }
}

extension FileReader {
  /// Up to that many bytes from where the last call ended; fewer only at the end of the file.
  public func read(_ count: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var place = 0
    while place < count {
      let result: Result<Int, FileError> = bytes.withUnsafeMutableBytes { memory in
        Result { () throws(FileError) in
          try self.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[place...]))
        }
      }
      let added = try result.get()
      if added == 0 { break }
      place += added
    }
    bytes.removeLast(count - place)
    return bytes
  }
}

extension FileAccess {
  /// Writes `path` anew under the name `path` + `.new`, then renames it: whoever reads meanwhile,
  /// or after a crash, finds the old bytes or the new ones.
  public func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
    let part = path + ".new"
    do throws(FileError) {
      let writer = try create(part)
      try writer.write(bytes)
      try writer.finish()
      try move(part, to: path)
    } catch {
      _ = try? remove(part)
      throw error
    }
  }
}

/// What could not be done with a file, and what to do about it.
public struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The causes that a caller may tell apart.
  public enum Cause: Sendable, Equatable {
    /// The file or its folder is not there.
    case missing
    /// The disk is full, or the user's share of it.
    case full
    /// The disk or the folder allows no change.
    case readOnly
    /// The system forbids the access.
    case denied
    /// Another process holds the lock for longer than the caller would wait.
    case busy
    /// The file is above the caller's limit.
    case tooLarge
    /// The system's own number.
    case system(Int32)
  }

  public let cause: Cause
  public let path: String

  public init(_ cause: Cause, path: String) {
    self.cause = cause
    self.path = path
  }

  /// Whether the same call may succeed later without anybody doing something.
  public var isTransient: Bool { cause == .busy }

  public var hint: String {
    switch cause {
    case .missing: "Create the folder again, or give the path of an existing one."
    case .full: "Free space on the disk, then try again. Nothing was changed."
    case .readOnly: "Give a folder that you may write to."
    case .denied: "Give this user the right to read and write the folder."
    case .busy: "Another process holds the lock. Try again when it has finished."
    case .tooLarge: "Check the files in the folder: this app did not write such a large file."
    case .system: "Look up the number in the system's list of errors."
    }
  }

  public var description: String {
    let what =
      switch cause {
      case .missing: "there is no such file or folder"
      case .full: "the disk is full"
      case .readOnly: "the disk or folder is read-only"
      case .denied: "the access is denied"
      case .busy: "another process holds the lock"
      case .tooLarge: "the file is too large"
      case .system(let code): "the system reports error \(code)"
      }
    return "\(path): \(what). \(hint)"
  }
}
