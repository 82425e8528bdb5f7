import FerryModel
import FerryWire

/// Sessions, what users chose, what apps reported, and which devices there are.
package protocol SessionStore: AnyObject {
  func session(_ hash: [UInt8]) throws(StoreError) -> StoredSession?
  func hasSession(user: String, device: String) throws(StoreError) -> Bool
  func keep(_ session: StoredSession) throws(StoreError)
  /// Its successor was used: the token itself and its other successors are not needed.
  func endSession(_ hash: [UInt8], besides successor: [UInt8]) throws(StoreError)
  /// Those of one device; of all where none is named.
  func endSessions(user: String, device: String?) throws(StoreError)
  func endSessions(expiredAt milliseconds: Int64) throws(StoreError)
  /// Keeps the newest `perDevice` of this device, and of the user's devices this one and those that
  /// renewed a session last.
  func boundSessions(
    user: String, device: String, perDevice: Int, devices: Int
  ) throws(StoreError)

  /// The user's personalization keys by name, as canonical text.
  func personalKeys(of user: String) throws(StoreError) -> [String: String]
  /// nil takes a key away.
  func keep(_ keys: [(name: String, value: String?)], of user: String) throws(StoreError)

  /// Log records that apps wrote, each once; the oldest beyond the bounds go.
  func keep(
    _ reports: [StoredReport], from owner: Owner, perDevice: Int, perUser: Int
  ) throws(StoreError)

  func device(_ owner: Owner) throws(StoreError) -> StoredDevice?
  /// Notes that it was here today.
  func keep(_ device: StoredDevice, of owner: Owner) throws(StoreError)
  /// Keeps `count` of the user's devices: this one, and those that were here last.
  func forgetDevices(of owner: Owner, beyond count: Int) throws(StoreError)
  func forgetDevices(unseenForDays days: Int64) throws(StoreError)
}

/// A refresh token that was given out.
package struct StoredSession: Sendable {
  package let hash: [UInt8]
  /// The token that it follows.
  package let parent: [UInt8]?
  package let user: String
  package let device: String
  package let expires: Int64

  package init(hash: [UInt8], parent: [UInt8]?, user: String, device: String, expires: Int64) {
    self.hash = hash
    self.parent = parent
    self.user = user
    self.device = device
    self.expires = expires
  }
}

/// A log record as it is kept.
package struct StoredReport: Sendable {
  package let id: OperationID
  package let level: LogRecord.Level
  package let json: String
}

/// A device as it was last here.
package struct StoredDevice: Sendable, Equatable {
  package let incarnation: String
  package let rightsVersion: String
  /// Whether that was today.
  package let isOfToday: Bool

  package init(incarnation: String, rightsVersion: String, isOfToday: Bool) {
    self.incarnation = incarnation
    self.rightsVersion = rightsVersion
    self.isOfToday = isOfToday
  }
}
