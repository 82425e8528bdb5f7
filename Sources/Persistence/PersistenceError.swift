import FerryWorld

/// The root error of the persistence: what was refused, where, and what to do.
public struct PersistenceError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The causes that a caller can tell apart.
  public enum Reason: Int, NumberedCode {
    /// Secure mode, and no key was given.
    case keyMissing = 200
    /// The key is not that of the store.
    case wrongKey = 201
    /// A name, key or folder that cannot be taken.
    case invalidArgument = 202
    /// The store is sealed and was opened in plain mode, or the other way round.
    case otherMode = 203
    /// The stored bytes are not those that were written.
    case damaged = 204
    /// The stored bytes are no store, or one of a later version.
    case foreign = 205
    /// What is stored under the name is of another kind.
    case dataType = 206
    /// The folder could not be read.
    case cannotRead = 207
    /// The folder could not be written; what was stored before is there.
    case cannotWrite = 208
    /// Another process works on the store for too long.
    case busy = 209
    /// The store was wiped, moved or given another mode since it was opened here.
    case changedElsewhere = 210
    /// The object could not be written or read by its own code.
    case notPersistable = 211

    public var cause: String {
      switch self {
      case .keyMissing: "The store is in secure mode, and no key was given."
      case .wrongKey: "The key is not that of the store."
      case .invalidArgument: "A name, key or folder cannot be taken."
      case .otherMode: "The store is sealed and was opened in plain mode, or the other way round."
      case .damaged: "The stored bytes are not those that were written."
      case .foreign: "The stored bytes are no store, or one of a later version."
      case .dataType: "What is stored under the name is of another kind."
      case .cannotRead: "The folder could not be read."
      case .cannotWrite: "The folder could not be written; what was stored before is there."
      case .busy: "Another process works on the store for too long."
      case .changedElsewhere: "The store was wiped, moved or given another mode meanwhile."
      case .notPersistable: "The object could not be written or read by its own code."
      }
    }

    public var cure: String {
      switch self {
      case .keyMissing: "Give the key, or generate one and keep it in a vault."
      case .wrongKey: "Give the key that the store was made with."
      case .invalidArgument: "Give a value that the documentation allows."
      case .otherMode: "Open the store in its own mode, or wipe it with changeSecureMode."
      case .damaged: "Remove the data and store it anew."
      case .foreign: "Use the version of the app that wrote it, or another folder."
      case .dataType: "Load it with the method that belongs to the one that stored it."
      case .cannotRead: "Look at the rights of the folder."
      case .cannotWrite: "Free space, or give a folder that may be written; then try again."
      case .busy: "Try again."
      case .changedElsewhere: "Open the store again."
      case .notPersistable: "Look at what write and read of the object do."
      }
    }
  }

  public let reason: Reason
  /// One sentence with the name or the folder; it never holds a key or what is stored.
  public let message: String

  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  public var code: Int { reason.rawValue }
  public var hint: String { reason.cure }
  /// Whether the same call may succeed later without anybody doing something.
  public var isTransient: Bool { reason == .busy }
  public var description: String { "\(reason.name) (\(code)): \(message). \(hint)" }

  /// A fault of the disk while something was written, or read.
  init(_ error: FileError, writing: Bool) {
    switch error.cause {
    case .busy: self.init(.busy, "another process works on the store: \(error.path)")
    case .tooLarge: self.init(.foreign, "\(error.path) is too large")
    default: self.init(writing ? .cannotWrite : .cannotRead, "\(error)")
    }
  }
}

/// Runs what touches the disk, and names the store's error for what the disk says.
@discardableResult
func writing<Result>(_ body: () throws(FileError) -> Result) throws(PersistenceError) -> Result {
  do throws(FileError) {
    return try body()
  } catch {
    throw PersistenceError(error, writing: true)
  }
}

func reading<Result>(_ body: () throws(FileError) -> Result) throws(PersistenceError) -> Result {
  do throws(FileError) {
    return try body()
  } catch {
    throw PersistenceError(error, writing: false)
  }
}
