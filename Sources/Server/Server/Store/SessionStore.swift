import FerryModel
import FerryWire

/// Sessions, what users chose, what apps reported, and which devices there are.
package protocol SessionStore: AnyObject {
  func session(_ id: String) throws(StoreError) -> StoredSession?
  func hasSession(user: String, device: String) throws(StoreError) -> Bool
  /// Keeps a new one, or what has become of it.
  func keep(_ session: StoredSession) throws(StoreError)
  /// Ends those of one device that are open; of all where none is named.
  func endSessions(user: String, device: String?, reason: String) throws(StoreError)
  /// Opens those again that ended for this reason.
  func reopenSessions(user: String, device: String, reason: String) throws(StoreError)
  /// Forgets those that began before, ended or not.
  func forgetSessions(begunBefore milliseconds: Int64) throws(StoreError)
  /// Of the open ones, keeps the newest `perDevice` of this device, and of the user's devices this one
  /// and those that renewed a session last. Gives the devices whose last session ended so.
  func boundSessions(
    user: String, device: String, perDevice: Int, devices: Int
  ) throws(StoreError) -> [String]

  /// What the newest token of each issuer's user said.
  func tokenUsers() throws(StoreError) -> [StoredTokenUser]
  func keep(_ user: StoredTokenUser) throws(StoreError)
  func forgetTokenUsers(issuedBefore milliseconds: Int64) throws(StoreError)

  /// The register of devices, as an operator sees it.
  func registeredDevices() throws(StoreError) -> [RegisteredDevice]
  func registeredDevice(_ owner: Owner) throws(StoreError) -> RegisteredDevice?
  func keep(_ device: RegisteredDevice) throws(StoreError)
  /// One write for many devices that were here. One that is not in the register any more stays out.
  func keep(seen devices: [SeenDevice]) throws(StoreError)
  func forgetRegistered(_ owner: Owner) throws(StoreError)

  /// The user's personalization keys by name, as canonical text.
  func personalKeys(of user: String) throws(StoreError) -> [String: String]
  /// nil takes a key away.
  func keep(_ keys: [(name: String, value: String?)], of user: String) throws(StoreError)

  /// Log records that apps wrote, each once; the oldest beyond the bounds go.
  func keep(
    _ reports: [StoredReport], from owner: Owner, perDevice: Int, perUser: Int
  ) throws(StoreError)
  /// Removes the oldest log records of a user beyond so many bytes; returns the bytes that are left.
  func cutReports(of user: ExactText, toBytes limit: Int) throws(StoreError) -> Int

  func device(_ owner: Owner) throws(StoreError) -> StoredDevice?
  /// Notes that they were here today, in one write.
  func keep(_ devices: [(owner: Owner, device: StoredDevice)]) throws(StoreError)
  /// Keeps `count` of the user's devices: this one, and those that were here last.
  func forgetDevices(of owner: Owner, beyond count: Int) throws(StoreError)
  func forgetDevices(unseenForDays days: Int64) throws(StoreError)
}

/// A login with all refresh tokens that followed from it. Its tokens are numbered from 1.
package struct StoredSession: Sendable, Equatable {
  package let id: String
  package let user: String
  package let device: String
  /// The highest number that was presented; 0: none yet.
  package var used: Int64
  /// When the user logged in, and when the session was renewed last; in milliseconds since 1970.
  package let begun: Int64
  package var renewed: Int64
  /// The user's `UserRecord.stamp` at the login; empty where it was not known.
  package var stamp: String
  /// Why it has ended; nil: it is open.
  package var ended: String?

  package init(
    id: String, user: String, device: String, used: Int64, begun: Int64, renewed: Int64,
    stamp: String, ended: String?
  ) {
    self.id = id
    self.user = user
    self.device = device
    self.used = used
    self.begun = begun
    self.renewed = renewed
    self.stamp = stamp
    self.ended = ended
  }
}

/// A user of an issuer.
package struct StoredTokenUser: Sendable, Equatable {
  package let user: String
  package let roles: [String]
  package let claims: [String: [String]]
  /// When the issuer gave the token, in milliseconds since 1970.
  package let issued: Int64
  /// Names of the packages that the user may use; nil: all.
  package let packages: [String]?

  package init(
    user: String, roles: [String], claims: [String: [String]], issued: Int64,
    packages: [String]?
  ) {
    self.user = user
    self.roles = roles
    self.claims = claims
    self.issued = issued
    self.packages = packages
  }
}

/// A log record as it is kept.
package struct StoredReport: Sendable {
  package let id: OperationID
  package let level: LogRecord.Level
  package let json: String

  package init(id: OperationID, level: LogRecord.Level, json: String) {
    self.id = id
    self.level = level
    self.json = json
  }
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
