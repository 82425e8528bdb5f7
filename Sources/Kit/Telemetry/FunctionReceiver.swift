import FerryLogger
import FerryTrace

/// Hands each body of logs and traces to a function of the app, which sends it where it likes.
///
/// To a Ferry server, with the session that is there already:
///
/// ```swift
/// let logs = LogUpload(to: FunctionReceiver { body, _ in
///   try await database.upload(body, as: .logs)
/// })
/// ```
public struct FunctionReceiver: TraceReceiver, LogReceiver {
  private let function: @Sendable ([UInt8], String) async throws -> Void

  /// `function` gets the body and its content type. It must return when the receiver has accepted
  /// the body.
  public init(_ function: @escaping @Sendable ([UInt8], String) async throws -> Void) {
    self.function = function
  }

  /// Returns 200 when the function has returned.
  public func send(_ body: [UInt8], contentType: String) async throws -> Int {
    try await function(body, contentType)
    return 200
  }

  public func send(_ body: [UInt8], contentType: String) async throws {
    try await function(body, contentType)
  }
}
