import FerryWorld

/// A device of a user as it was last here, and what the operator decided about it.
package struct RegisteredDevice: Sendable, Equatable {
  /// What the server does with it; the name is kept in the store.
  package enum State: String, Sendable {
    case active
    /// Somebody may log in with an activation code; `receipt` has its hash.
    case activating
    /// Its requests are refused with a reason; what is pending there stays.
    case locked
    /// The order to wipe itself waits for it.
    case wiping
    /// It has sent the receipt.
    case wiped
  }

  package let user: String
  package let device: String
  package var incarnation: String = ""
  /// The model of the data, as name and version.
  package var model: String = ""
  /// What the device says of itself: hardware, system and the version of the library.
  package var hardware: String = ""
  package var system: String = ""
  package var library: String = ""
  /// In milliseconds since 1970.
  package var firstSeen: Int64 = 0
  package var lastSeen: Int64 = 0
  /// At least so many changes were not answered, as last reported; nil: the device does not report
  /// them.
  package var pending: Int64?
  /// Its cursors as JSON.
  package var cursors: String = "[]"
  /// The connection template by which it was registered.
  package var template: String?
  /// Its subscription: accepted, or why it was refused; nil: it has none.
  package var subscription: String?
  /// The synchronization parameters of the subscription as JSON.
  package var parameters: String = "[]"
  /// How much its app logs, as an operator wants it; nil: what its template says.
  package var logLevel: String?
  package var state: State = .active
  /// Why it is locked or wiped, for its user.
  package var reason: String = ""
  /// Of a wipe: what the device must send once. Of an activation: the hash of the code.
  package var receipt: String?
  /// Whether a wipe may destroy changes that were not sent.
  package var withPending: Bool = false

  package init(user: String, device: String) {
    self.user = user
    self.device = device
  }

  /// Whole days until it leaves the register for having been inactive.
  package func daysLeft(of days: Int64, now: Timestamp) -> Int64 {
    max(0, days - (now.milliseconds - lastSeen) / 86_400_000)
  }

  package var owner: Owner { Owner(device: device, user: user) }
}

/// That a device was here, and what is different each time.
package struct SeenDevice: Sendable, Equatable {
  package let owner: Owner
  /// In milliseconds since 1970.
  package let lastSeen: Int64
  package let pending: Int64?
  package let cursors: String

  package init(_ device: RegisteredDevice) {
    owner = device.owner
    lastSeen = device.lastSeen
    pending = device.pending
    cursors = device.cursors
  }
}
