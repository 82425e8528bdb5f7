/// A row of the walk's only entity. Numbers are keys: those above zero are final, those below are
/// temporary ones of the device, and zero is null.
struct WalkRow: Hashable {
  var key: Int8
  var value: Int8 = 0
  /// The object that it refers to.
  var other: Int8 = 0
}

/// Values of some attributes.
struct WalkValues: Equatable {
  static let absent: Int8 = .min
  var key = WalkValues.absent
  var value = WalkValues.absent
  var other = WalkValues.absent

  var hasReference: Bool { other != WalkValues.absent }
}

/// A pending operation on the device, with the bytes that were sealed.
struct WalkOperation: Equatable {
  enum Kind: UInt8 { case create, update, delete }
  enum State: UInt8 { case waiting, submitted, replayFailed, unknown, withdrawn }

  var sequence: UInt8 = 0
  var id: UInt8
  /// The id that the change was born with, or got by the last answer: it has one effect, whatever
  /// becomes of its id.
  var birth: UInt8
  var object: UInt8
  var kind: Kind
  var key: Int8
  var isTemporary = false
  var changed = WalkValues()
  var base = WalkValues()
  var chain: UInt8
  var state = State.waiting
  /// See `PendingOperation.Wanted`.
  var wanted: UInt8 = 0
  var isSent = false
  var isAcknowledged = false
  var mayHaveRun = false
  var counter: UInt8 = 0
  var failure: UInt8 = 0
  var sealed: WalkPayload?

  var isInFlight: Bool { state != .waiting && state != .replayFailed }
  var isOpen: Bool { !isInFlight && wanted == 0 }
}

/// What the bytes of a sealed operation say.
struct WalkPayload: Equatable {
  var id: UInt8
  var chain: UInt8
  var position: UInt8
  var count: UInt8
  var kind: WalkOperation.Kind
  /// Zero: the business system gives it.
  var key: Int8
  var changed: WalkValues
  var base: WalkValues
}

/// An object on the device: what was downloaded, and what is visible.
struct WalkObject: Equatable {
  var number: UInt8
  var visible: WalkRow?
  var image: WalkRow?
}

/// The device's file.
struct WalkDevice: Equatable {
  var objects: [WalkObject] = []
  /// In the order of their sequences.
  var operations: [WalkOperation] = []

  func object(_ number: UInt8) -> Int? { objects.firstIndex { $0.number == number } }
}

/// An operation that the server has taken in.
struct WalkStored: Equatable {
  enum State: UInt8 { case stored, unknown, answered }
  enum Outcome: UInt8 { case none, accepted, refused, notTried }

  var payload: WalkPayload
  var birth: UInt8
  var state = State.stored
  var outcome = Outcome.none
  /// The key of the row, where it was accepted.
  var key: Int8 = 0
  /// What was written otherwise than it was sent.
  var written = WalkValues()
  var mayHaveRun = false
  /// A crash of the server left it claimed.
  var wasClaimed = false
  /// The device has said since the start of the server that it is open.
  var isNamed = true
  var isAbandoned = false
  var wasAskedFor = false
  /// What the business system did in truth, and the key of the row.
  var isPerformed = false
  var performedKey: Int8 = 0
}

/// One state of the walk: the device, a copy of its file, the server and the business system.
struct WalkWorld: Equatable {
  var device = WalkDevice()
  var backup: WalkDevice?
  var stored: [WalkStored] = []
  /// By key, each.
  var cache: [WalkRow] = []
  var business: [WalkRow] = []
  /// The births of changes that had an effect and may be sent again.
  var performed: [UInt8] = []
  /// Something was taken back, restored or unknown: the business system may say no for that.
  var isTroubled = false
  /// The device's file was set back.
  var isRestored = false
  var nextID: UInt8 = 1
}
