import FerryModel

/// Judges what a business system answers to a change, in the words of one company.
///
/// A program that makes its own `RESTConnection` gives it checkers. They come before the rules of the
/// mapping, which come before the status. They are called on the threads of the connector, by several
/// at a time, and hold up the change: they must not wait for anything.
public protocol ResultChecker: Sendable {
  /// Nil where it has nothing to say of this answer: then the next checker, the rules of the mapping or
  /// the status decides.
  func check(_ answer: BusinessAnswer) -> ResultVerdict?
}

/// A whole answer to one change. An answer that ended early is never judged: it counts as lost.
public struct BusinessAnswer: Sendable {
  /// The name of the entity in the model.
  public let entity: String
  public let kind: OperationKind
  /// The change, as the device numbered it.
  public let operation: OperationID
  /// The status of HTTP; never 401 or 407, which are about the credential.
  public let status: Int
  public let body: [UInt8]
  private let headers: [(name: String, value: String)]

  public init(
    entity: String, kind: OperationKind, operation: OperationID, status: Int,
    headers: [(name: String, value: String)], body: [UInt8]
  ) {
    self.entity = entity
    self.kind = kind
    self.operation = operation
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of this name, in any case; nil where there is none.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }
}

/// What an answer means.
public enum ResultVerdict: Sendable, Equatable {
  /// It was done. The app gets the notes as log records.
  case accepted(notes: [ResultNote] = [])
  /// It was not done, and will not be. The app gets the refusal.
  case refused(Refusal)
  /// It was not done, for certain. The server sends it again later.
  case notDone(reason: String)
  /// It may have been done. The server finds out as after a lost answer, and an operator decides if
  /// that is not possible.
  case unknown(reason: String)
}
