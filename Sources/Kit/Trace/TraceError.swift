import FerryWorld

/// What could not be done with a trace, and what to do about it.
public struct TraceError: NumberedError, Sendable {
  public static let domain = "FerryTrace"

  /// Every way in which a call can fail; the first two have names in the reference.
  public enum Code: Int, NumberedCode {
    case notStarted = 1
    case upload = 2
    case noStep = 3
    case invalidPassport = 4
    case full = 5

    /// The reference's name of the number; our own if the reference has none.
    public var referenceName: String {
      switch self {
      case .notStarted: "E2E_NOT_STARTED"
      case .upload: "BTX_UPLOAD_ERROR"
      case .noStep, .invalidPassport, .full: name
      }
    }

    public var cause: String {
      switch self {
      case .notStarted: "No trace was started, or it was stopped before."
      case .upload: "The receiver did not accept the trace."
      case .noStep: "A request needs an open step, and no step is open."
      case .invalidPassport: "The text is not a passport."
      case .full: "The trace has as many requests as it can hold."
      }
    }

    public var cure: String {
      switch self {
      case .notStarted: "Call start first."
      case .upload: "Check the status, then upload again; the trace was kept."
      case .noStep: "Create a step first."
      case .invalidPassport: "Take the value of the header SAP-PASSPORT as it came."
      case .full: "Stop and upload the trace, then start another."
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
