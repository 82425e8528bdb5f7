/// Why something could not be done on the device. What the user saved is untouched.
public struct FerryError: Error, Sendable, CustomStringConvertible {
  /// Closed today; more may come, so switch with a default.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The local database cannot be opened, read or written.
    public static let store = Code(rawValue: "store")
    /// The device has no room left: this change was not saved, those before it are safe.
    public static let diskFull = Code(rawValue: "diskFull")
    /// The device's disk does not read or write any more: this change was not saved.
    public static let diskFailing = Code(rawValue: "diskFailing")
    /// The local database's file or folder may not be written: this change was not saved.
    public static let readOnly = Code(rawValue: "readOnly")
    /// The key is not the local database's, is missing, or was given for a plain one.
    public static let wrongKey = Code(rawValue: "wrongKey")
    /// The tokens or the key cannot be read or written where the app keeps them.
    public static let secrets = Code(rawValue: "secrets")
    /// Something in the local database was changed or damaged: see `message`.
    public static let damaged = Code(rawValue: "damaged")
    /// The local database belongs to another package, user, server or program.
    public static let otherOwner = Code(rawValue: "otherOwner")
    /// The local database is of another model, and pending changes or values that only the device has
    /// would be lost, or it is newer, or another process has brought it to a newer one meanwhile.
    public static let incompatibleModel = Code(rawValue: "incompatibleModel")
    /// The local database is open, and must not be for this.
    public static let inUse = Code(rawValue: "inUse")
    /// The local database was closed by the app.
    public static let closed = Code(rawValue: "closed")
    /// There is no object with this key.
    public static let objectNotFound = Code(rawValue: "objectNotFound")
    /// An object with this key is there already.
    public static let objectExists = Code(rawValue: "objectExists")
    /// The model does not allow this value: see `entity`, `attribute` and `message`.
    public static let invalidValue = Code(rawValue: "invalidValue")
    /// The model allows no create, update or delete of this entity.
    public static let operationNotAllowed = Code(rawValue: "operationNotAllowed")
    /// The key of an object cannot be changed: delete the object and create another.
    public static let keyChanged = Code(rawValue: "keyChanged")
    /// More bytes, changes or values than are allowed: see `message`.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// A change refers to an object that is not there: its create was refused, and it was deleted.
    public static let invalidReference = Code(rawValue: "invalidReference")
    /// The change whose outcome was asked for was not submitted.
    public static let notSubmitted = Code(rawValue: "notSubmitted")
    /// The call does not fit what was done before: see `message`.
    public static let wrongState = Code(rawValue: "wrongState")
    /// The model has no attribute, parameter or key of this name: see `hint`.
    public static let unknownName = Code(rawValue: "unknownName")
    /// An object that was never saved is referred to or watched, or a big value of it opened (the
    /// reference's ObjectNotSaved).
    public static let objectNotSaved = Code(rawValue: "objectNotSaved")
    /// A stream was closed (the reference's StreamNotOpen).
    public static let streamNotOpen = Code(rawValue: "streamNotOpen")
    /// More was written than was declared (the reference's WriteOverLength).
    public static let writeOverLength = Code(rawValue: "writeOverLength")
    /// Less was written than was declared.
    public static let writeUnderLength = Code(rawValue: "writeUnderLength")
    /// The sequence that the content of a big value is read from ended with an error: see `cause`.
    public static let contentSource = Code(rawValue: "contentSource")
    /// The content of a big value is not on the device, and cannot be had now: see `message`.
    public static let notDownloaded = Code(rawValue: "notDownloaded")
    /// A query names what is not there, or compares what cannot be compared: see `message`.
    public static let invalidQuery = Code(rawValue: "invalidQuery")
    /// The server's address in the connection profile is none.
    public static let badAddress = Code(rawValue: "badAddress")
    /// The device was without its server for longer than its operator allows: its data is closed until
    /// the server answers.
    public static let leaseEnded = Code(rawValue: "leaseEnded")
    /// A property of the application connection is missing or is none: see `message` (the reference's
    /// ConnectionPropertyException).
    public static let connectionProperty = Code(rawValue: "connectionProperty")
    /// The application is not registered with the server on this device.
    public static let notRegistered = Code(rawValue: "notRegistered")
    /// The server did not take user, password or token.
    public static let notLoggedIn = Code(rawValue: "notLoggedIn")
    /// Changes were not sent, or are not answered, and would be lost.
    public static let pendingChanges = Code(rawValue: "pendingChanges")
    /// The operator has locked this device; what is pending stays here.
    public static let deviceLocked = Code(rawValue: "deviceLocked")
    /// The operator has ordered this device to destroy its data, and it did.
    public static let wiped = Code(rawValue: "wiped")
    /// The user may not do this.
    public static let notAllowed = Code(rawValue: "notAllowed")
    /// Data was asked for and `subscribe` never called.
    public static let notSubscribed = Code(rawValue: "notSubscribed")
    /// The server cannot be reached now.
    public static let offline = Code(rawValue: "offline")
    /// The server answered what this client does not understand.
    public static let protocolViolation = Code(rawValue: "protocolViolation")
    /// The server will not go on: see `message`.
    public static let server = Code(rawValue: "server")
    /// What was waited for did not come in time; it may still come.
    public static let timedOut = Code(rawValue: "timedOut")
    /// The app ended what it waited for: its task, a synchronization or a transaction.
    public static let cancelled = Code(rawValue: "cancelled")
  }

  public let code: Code
  public let message: String
  /// What to do about it.
  public let hint: String
  /// Name of the entity it is about, if it is about one.
  public let entity: String?
  /// Name of the attribute it is about, if it is about one; of a key of several, their names
  /// between commas: "orderID, number".
  public let attribute: String?
  /// Whether the same may succeed later without anyone doing anything.
  public let isTransient: Bool
  /// The error underneath, if there is one.
  public let cause: (any Error)?

  public init(
    _ code: Code, _ message: String, hint: String, entity: String? = nil,
    attribute: String? = nil, isTransient: Bool = false, cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.hint = hint
    self.entity = entity
    self.attribute = attribute
    self.isTransient = isTransient
    self.cause = cause
  }

  /// The same, naming the entity it was met with, where it names none itself.
  package func about(_ entity: String) -> FerryError {
    guard self.entity == nil else { return self }
    return FerryError(
      code, message, hint: hint, entity: entity, attribute: attribute, isTransient: isTransient,
      cause: cause)
  }

  public var description: String { "\(message). \(hint)" }
}
