import FerryConnector
import FerryModel

/// Big values that devices send after their operations, in pieces.
package protocol ContentStore: AnyObject {
  func content(_ user: String, _ reference: BigReference) throws(StoreError) -> StoredContent?
  func beginContent(_ user: String, _ reference: BigReference) throws(StoreError) -> StoredContent
  func appendContent(_ id: Int64, at start: Int64, _ bytes: [UInt8]) throws(StoreError)
  func setContent(_ id: Int64, _ state: StoredContent.State) throws(StoreError)
  /// The rest of the piece in which `offset` lies; empty behind the end.
  func contentPiece(_ id: Int64, at offset: Int64) throws(StoreError) -> [UInt8]
  /// Bytes that a user's contents take.
  func contentBytes(of user: String) throws(StoreError) -> Int64
  func discardContents(_ ids: [Int64]) throws(StoreError)
  /// Those that nothing has touched for so many days.
  func oldContents(
    days: Int64
  ) throws(StoreError) -> [(id: Int64, user: String, reference: BigReference?)]
  /// Reads the pieces of a content from any thread.
  func contentReader(_ id: Int64) -> @Sendable (Int64) throws(ConnectorError) -> [UInt8]
}

/// A content as far as it has come.
package struct StoredContent: Sendable, Equatable {
  package enum State: String, Sendable {
    case arriving
    /// All is there, and is what the reference says.
    case whole
    /// All is there, and is something else; or it will not come any more.
    case wrong
  }

  package let id: Int64
  package let stored: Int64
  package let state: State

  package init(id: Int64, stored: Int64, state: State) {
    self.id = id
    self.stored = stored
    self.state = state
  }
}
