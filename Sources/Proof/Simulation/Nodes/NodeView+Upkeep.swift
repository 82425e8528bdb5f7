import FerryModel
import FerrySQLiteStore
import FerryServer
import FerryWire

/// What every node may do: sessions, devices, contents; and what the leader does now and then.
extension NodeView {
  func session(_ id: String) throws(StoreError) -> StoredSession? {
    try any { store throws(StoreError) in try store.session(id) }
  }

  func hasSession(user: String, device: String) throws(StoreError) -> Bool {
    try any { store throws(StoreError) in try store.hasSession(user: user, device: device) }
  }

  func keep(_ session: StoredSession) throws(StoreError) {
    try any { store throws(StoreError) in try store.keep(session) }
    if session.ended != nil { shared.sessionChanges += 1 }
  }

  func sessionChanges() throws(StoreError) -> Int64 {
    try any { _ in shared.sessionChanges }
  }

  func endSessions(user: String, device: String?, reason: String) throws(StoreError) {
    try any { store throws(StoreError) in
      try store.endSessions(user: user, device: device, reason: reason)
    }
    shared.sessionChanges += 1
  }

  func reopenSessions(user: String, device: String, reason: String) throws(StoreError) {
    try any { store throws(StoreError) in
      try store.reopenSessions(user: user, device: device, reason: reason)
    }
  }

  func forgetSessions(begunBefore milliseconds: Int64) throws(StoreError) {
    try any { store throws(StoreError) in try store.forgetSessions(begunBefore: milliseconds) }
  }

  func boundSessions(
    user: String, device: String, perDevice: Int, devices: Int
  ) throws(StoreError) -> [String] {
    shared.sessionChanges += 1
    return try any { store throws(StoreError) in
      try store.boundSessions(user: user, device: device, perDevice: perDevice, devices: devices)
    }
  }

  func tokenUsers() throws(StoreError) -> [StoredTokenUser] {
    try any { store throws(StoreError) in try store.tokenUsers() }
  }

  func keep(_ user: StoredTokenUser) throws(StoreError) {
    try any { store throws(StoreError) in try store.keep(user) }
  }

  func forgetTokenUsers(issuedBefore milliseconds: Int64) throws(StoreError) {
    try any { store throws(StoreError) in try store.forgetTokenUsers(issuedBefore: milliseconds) }
  }

  func registeredDevices() throws(StoreError) -> [RegisteredDevice] {
    try any { store throws(StoreError) in try store.registeredDevices() }
  }

  func registeredDevice(_ owner: Owner) throws(StoreError) -> RegisteredDevice? {
    try any { store throws(StoreError) in try store.registeredDevice(owner) }
  }

  func keep(_ device: RegisteredDevice) throws(StoreError) {
    try any { store throws(StoreError) in try store.keep(device) }
  }

  func keep(seen devices: [SeenDevice]) throws(StoreError) {
    try any { store throws(StoreError) in try store.keep(seen: devices) }
  }

  func forgetRegistered(_ owner: Owner) throws(StoreError) {
    try any { store throws(StoreError) in try store.forgetRegistered(owner) }
  }

  func personalKeys(of user: String) throws(StoreError) -> [String: String] {
    try any { store throws(StoreError) in try store.personalKeys(of: user) }
  }

  func keep(_ keys: [(name: String, value: String?)], of user: String) throws(StoreError) {
    try any { store throws(StoreError) in try store.keep(keys, of: user) }
  }

  func keep(
    _ reports: [StoredReport], from owner: Owner, perDevice: Int, perUser: Int
  ) throws(StoreError) {
    try any { store throws(StoreError) in
      try store.keep(reports, from: owner, perDevice: perDevice, perUser: perUser)
    }
  }

  func cutReports(of user: ExactText, toBytes limit: Int) throws(StoreError) -> Int {
    try any { store throws(StoreError) in try store.cutReports(of: user, toBytes: limit) }
  }

  func device(_ owner: Owner) throws(StoreError) -> StoredDevice? {
    try any { store throws(StoreError) in try store.device(owner) }
  }

  func keep(_ devices: [(owner: Owner, device: StoredDevice)]) throws(StoreError) {
    try any { store throws(StoreError) in try store.keep(devices) }
  }

  func forgetDevices(of owner: Owner, beyond count: Int) throws(StoreError) {
    try any { store throws(StoreError) in try store.forgetDevices(of: owner, beyond: count) }
  }

  func forgetDevices(unseenForDays days: Int64) throws(StoreError) {
    try any { store throws(StoreError) in try store.forgetDevices(unseenForDays: days) }
  }

  func content(
    _ user: String, _ reference: BigReference
  ) throws(StoreError) -> FerryServer.StoredContent? {
    try any { store throws(StoreError) in try store.content(user, reference) }
  }

  func beginContent(
    _ user: String, _ reference: BigReference
  ) throws(StoreError) -> FerryServer.StoredContent {
    try any { store throws(StoreError) in try store.beginContent(user, reference) }
  }

  func appendContent(_ id: Int64, at start: Int64, _ bytes: [UInt8]) throws(StoreError) {
    try any { store throws(StoreError) in try store.appendContent(id, at: start, bytes) }
  }

  func setContent(_ id: Int64, _ state: FerryServer.StoredContent.State) throws(StoreError) {
    try any { store throws(StoreError) in try store.setContent(id, state) }
  }

  func contentPiece(_ id: Int64, at offset: Int64) throws(StoreError) -> [UInt8] {
    try any { store throws(StoreError) in try store.contentPiece(id, at: offset) }
  }

  func contentBytes(of user: String) throws(StoreError) -> Int64 {
    try any { store throws(StoreError) in try store.contentBytes(of: user) }
  }

  func discardContents(_ ids: [Int64]) throws(StoreError) {
    try any { store throws(StoreError) in try store.discardContents(ids) }
  }

  func oldContents(
    days: Int64
  ) throws(StoreError) -> [(id: Int64, user: String, reference: BigReference?)] {
    try any { store throws(StoreError) in try store.oldContents(days: days) }
  }

  func countDay() throws(StoreError) {
    try lead { store throws(StoreError) in try store.countDay() }
  }

  func version(daysAgo days: Int64) throws(StoreError) -> Int64 {
    try any { store throws(StoreError) in try store.version(daysAgo: days) }
  }

  func leftPartitions() throws(StoreError) -> [(partition: Int64, rows: Int64, left: Int64)] {
    try any { store throws(StoreError) in try store.leftPartitions() }
  }

  func leave(of partition: Int64, after count: Int64) throws(StoreError) -> Int64? {
    try any { store throws(StoreError) in try store.leave(of: partition, after: count) }
  }

  func purgeLeaves(
    of partition: Int64, upTo version: Int64, _ transaction: NumberedTransaction
  ) throws(StoreError) -> Int64 {
    try lead { store throws(StoreError) in
      try store.purgeLeaves(of: partition, upTo: version, transaction)
    }
  }

  func purgeRows(upTo version: Int64) throws(StoreError) -> Int64 {
    try lead { store throws(StoreError) in try store.purgeRows(upTo: version) }
  }

  func forgetOperations(afterDays days: Int64) throws(StoreError) -> Int64 {
    try lead { store throws(StoreError) in try store.forgetOperations(afterDays: days) }
  }

  func unconfirmedAnswers(
    ofDevices prefix: String, afterDays days: Int64, count: Int
  ) throws(StoreError) -> [OldAnswer] {
    try any { store throws(StoreError) in
      try store.unconfirmedAnswers(ofDevices: prefix, afterDays: days, count: count)
    }
  }

  func forgetReports(afterDays days: Int64) throws(StoreError) {
    try any { store throws(StoreError) in try store.forgetReports(afterDays: days) }
  }

  func explain(_ entity: String, _ key: String) throws(StoreError) -> Explanation {
    try any { store throws(StoreError) in try store.explain(entity, key) }
  }

  func dump() throws(StoreError) -> [String] {
    try any { store throws(StoreError) in try store.dump() }
  }

  func liveRows() throws(StoreError) -> [(name: FerryServer.RowName, body: [UInt8], place: String?)]
  {
    try any { store throws(StoreError) in try store.liveRows() }
  }
}
