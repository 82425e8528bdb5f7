import FerryWorld

/// The root error of the persistence: what was refused, where, and what to do.
public struct PersistenceError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The causes that a caller can tell apart.
  public enum Reason: Int, NumberedCode {
    /// Secure mode, and no key was given.
    case keyMissing = 200
    /// The key does not belong to the store.
    case wrongKey = 201
    /// A name, key or folder is not valid.
    case invalidArgument = 202
    /// The store is sealed and was opened in plain mode, or the other way round.
    case otherMode = 203
    /// The stored bytes are damaged or were changed.
    case damaged = 204
    /// The stored bytes are not a store, or a later version wrote them.
    case foreign = 205
    /// The data under the name is of another kind.
    case dataType = 206
    /// The folder could not be read.
    case cannotRead = 207
    /// The folder could not be written; the earlier data was not changed.
    case cannotWrite = 208
    /// Another process kept the store locked for too long.
    case busy = 209
    /// The store was wiped, moved or given another mode since it was opened here.
    case changedElsewhere = 210
    /// The object's own code could not write or read it.
    case notPersistable = 211

    public var cause: String {
      switch self {
      case .keyMissing: "The store is in secure mode, and no key was given."
      case .wrongKey: "The key does not belong to the store."
      case .invalidArgument: "A name, key or folder is not valid."
      case .otherMode: "The store is sealed and was opened in plain mode, or the other way round."
      case .damaged: "The stored bytes are damaged or were changed."
      case .foreign: "The stored bytes are not a store, or a later version wrote them."
      case .dataType: "The data under the name is of another kind."
      case .cannotRead: "The folder could not be read."
      case .cannotWrite: "The folder could not be written; the earlier data was not changed."
      case .busy: "Another process kept the store locked for too long."
      case .changedElsewhere: "The store was wiped, moved or given another mode meanwhile."
      case .notPersistable: "The object's own code could not write or read it."
      }
    }

    public var cure: String {
      switch self {
      case .keyMissing: "Give the key, or generate one and keep it in a vault."
      case .wrongKey: "Give the key that the store was made with."
      case .invalidArgument: "Give a value that the documentation allows."
      case .otherMode: "Open the store in its own mode, or wipe it with changeSecureMode."
      case .damaged: "Remove the data and store it again."
      case .foreign: "Use the version of the app that wrote it, or another folder."
      case .dataType: "Load it with the counterpart of the method that stored it."
      case .cannotRead: "Give this app the right to read the folder."
      case .cannotWrite: "Free disk space or choose a folder that you may write to, then try again."
      case .busy: "Try again."
      case .changedElsewhere: "Open the store again."
      case .notPersistable: "Check the write and read methods of the object."
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
    case .busy: self.init(.busy, "another process has locked the store: \(error.path)")
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
