import FerryWorld

/// What could not be done with a log, and what to do about it.
public struct LogError: NumberedError, Sendable {
  public static let domain = "FerryLogger"

  /// Every way in which a call can fail. Writing a record never fails.
  public enum Code: Int, NumberedCode {
    case damaged = 1
    case unknownVersion = 2
    case store = 3
    case upload = 4
    case tooLarge = 5

    public var cause: String {
      switch self {
      case .damaged: "The bytes are not a complete log."
      case .unknownVersion: "A newer version of the library has written the log."
      case .store: "The files of the log cannot be opened or written."
      case .upload: "The receiver did not accept the records."
      case .tooLarge: "The export is larger than the caller's limit."
      }
    }

    public var cure: String {
      switch self {
      case .damaged: "Export the log again; the records on the device were not changed."
      case .unknownVersion: "Update the program that reads it."
      case .store: "Free space on the disk and check the rights of the folder."
      case .upload: "Try again later; the records are kept until the receiver accepts them."
      case .tooLarge: "Select fewer records, or give a larger limit."
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
