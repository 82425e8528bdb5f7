/// The root error of the vault: what was refused, on which vault, and what to do.
public struct DataVaultError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The causes that a caller can tell apart; each has its name and number in the reference.
  public enum Reason: Sendable, Hashable, CaseIterable {
    /// There is no such vault.
    case doesNotExist
    /// A name, password, number or limit is not valid, or the name is in use.
    case invalidArgument
    /// Password and salt do not open the vault.
    case invalidPassword
    /// The password does not meet the policy; `violation` says how.
    case incompatiblePassword
    /// The storage could not be read.
    case cannotRead
    /// The storage could not be written; the vault was not changed.
    case cannotWrite
    /// The vault is locked.
    case locked
    /// A name of more than 255 bytes.
    case nameTooLong
    /// A value, or all values together, above the limit.
    case valueTooLarge
    /// The value has another type.
    case dataType
    /// Too little memory to derive the key.
    case outOfMemory
    /// The stored bytes are damaged or were changed.
    case damaged
    /// The stored bytes are not a vault, or a later version wrote them.
    case foreign
    /// Another process kept the vault locked for too long.
    case busy

    /// The name in the reference, or our own if the reference has none.
    public var name: String {
      switch self {
      case .doesNotExist: "DOES_NOT_EXIST"
      case .invalidArgument: "INVALID_ARG"
      case .invalidPassword: "InvalidPassword"
      case .incompatiblePassword: "IncompatiblePassword"
      case .cannotRead: "IO_READ"
      case .cannotWrite: "IO_WRITE"
      case .locked: "LOCKED"
      case .nameTooLong: "NAME_TOO_LONG"
      case .valueTooLarge: "VALUE_TOO_LARGE"
      case .dataType: "DATA_TYPE"
      case .outOfMemory: "OUT_OF_MEMORY"
      case .damaged: "DAMAGED"
      case .foreign: "FOREIGN"
      case .busy: "BUSY"
      }
    }

    /// The number of the reference; from 100 on our own. A password that does not meet the policy
    /// has the number of its violation, 50 to 57.
    public var code: Int {
      switch self {
      case .doesNotExist: 3
      case .invalidArgument: 4
      case .invalidPassword: 5
      case .cannotRead: 6
      case .cannotWrite: 7
      case .locked: 8
      case .nameTooLong: 9
      case .valueTooLarge: 10
      case .dataType: 12
      case .outOfMemory: 13
      case .incompatiblePassword: 50
      case .damaged: 100
      case .foreign: 101
      case .busy: 102
      }
    }

    /// Why it happens.
    public var cause: String {
      switch self {
      case .doesNotExist: "There is no vault with this name."
      case .invalidArgument: "A name, password or number is not valid, or the name is in use."
      case .invalidPassword: "Password and salt do not open the vault."
      case .incompatiblePassword: "The password does not meet the policy."
      case .cannotRead: "The storage could not be read."
      case .cannotWrite: "The storage could not be written; the vault was not changed."
      case .locked: "The vault is locked."
      case .nameTooLong: "The name has more than 255 bytes."
      case .valueTooLarge: "A value, or all values together, is above the limit."
      case .dataType: "The value was stored as another type."
      case .outOfMemory: "There is too little memory to derive the key."
      case .damaged: "The stored bytes are damaged or were changed."
      case .foreign: "The stored bytes are not a vault, or a later version wrote them."
      case .busy: "Another process kept the vault locked for too long."
      }
    }

    /// What to do about it.
    public var hint: String {
      switch self {
      case .doesNotExist: "Create the vault, or check with vaultExists first."
      case .invalidArgument: "Give a value that the documentation allows."
      case .invalidPassword: "Give the password and the salt that were set last."
      case .incompatiblePassword:
        "Set another password with the changePassword that takes four arguments."
      case .cannotRead: "Give this app the right to read the folder."
      case .cannotWrite: "Free disk space or choose a folder that you may write to, then try again."
      case .locked: "Unlock the vault first."
      case .nameTooLong: "Give a name of at most 255 bytes of UTF-8."
      case .valueTooLarge: "Keep large data in a store and only its key in the vault."
      case .dataType: "Get the type from getDataNames and use the method for this type."
      case .outOfMemory: "Try again when the device has more free memory."
      case .damaged: "Delete the vault and fill it again, or restore a copy of its file."
      case .foreign: "Use the version of the app that wrote it, or another name."
      case .busy: "Try again."
      }
    }
  }

  public let reason: Reason
  /// One sentence with the vault's name; it never holds a password or a value.
  public let message: String
  /// How the password fails the policy; only with `.incompatiblePassword`.
  public let violation: PasswordViolation?
  /// True if the vault was deleted, because this wrong password exceeded the retry limit.
  public let isVaultDeleted: Bool

  public init(
    _ reason: Reason, _ message: String, violation: PasswordViolation? = nil,
    isVaultDeleted: Bool = false
  ) {
    self.reason = reason
    self.message = message
    self.violation = violation
    self.isVaultDeleted = isVaultDeleted
  }

  /// The number of the reference.
  public var code: Int { violation?.rawValue ?? reason.code }
  /// Whether the same call may succeed later without any action.
  public var isTransient: Bool { reason == .busy || reason == .outOfMemory }
  public var hint: String {
    isVaultDeleted ? "Create the vault again; its values are lost." : reason.hint
  }
  public var description: String {
    "\(violation?.name ?? reason.name) (\(code)): \(message). \(hint)"
  }
}
