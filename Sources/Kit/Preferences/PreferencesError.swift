import FerryWorld

/// What could not be done with a preference, and what to do about it.
public struct PreferencesError: NumberedError, Sendable {
  public static let domain = "FerryPreferences"

  /// Every way in which a call can fail.
  public enum Code: Int, NumberedCode {
    case invalidValue = 1
    case wrongType = 2
    case unknownKey = 3
    case secret = 4
    case invalidName = 5
    case damaged = 6
    case unknownVersion = 7
    case store = 8
    case tooLarge = 9

    public var cause: String {
      switch self {
      case .invalidValue: "The key does not allow the value."
      case .wrongType:
        "Two keys with the same name have different types, or a text is not of the key's type."
      case .unknownKey: "No value is stored under this name, and no key of this name is known."
      case .secret: "The name says that the value is a secret, and preferences are not sealed."
      case .invalidName: "A name is empty, too long, or holds a control character."
      case .damaged: "The file of the store is not a preferences file."
      case .unknownVersion: "A newer version of the library has written the store."
      case .store: "The store could not be read or written."
      case .tooLarge: "A text, or the number of preferences, is above its limit."
      }
    }

    public var cure: String {
      switch self {
      case .invalidValue: "Give a value that the key allows; the old one is still there."
      case .wrongType: "Use one key for one name, or give a text of the key's type."
      case .unknownKey: "Set it first, or give the key when the preferences are opened."
      case .secret: "Keep it in a data vault (FerryVault), or give the key another name."
      case .invalidName: "Give a name of 1 to 255 bytes without control characters."
      case .damaged: "Delete the file; every key then has its default value."
      case .unknownVersion: "Update the app, or remove the file."
      case .store: "Free space on the disk and check the rights of the folder; nothing was changed."
      case .tooLarge: "Keep large values with FerryPersistence."
      }
    }
  }

  public let code: Code
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
