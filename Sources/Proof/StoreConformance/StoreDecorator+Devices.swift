import FerryConnector
import FerryModel
import FerryServer
import FerryWire

extension StoreDecorator {
  package func session(_ id: String) throws(StoreError) -> StoredSession? {
    try inner.session(id)
  }

  package func hasSession(user: String, device: String) throws(StoreError) -> Bool {
    try inner.hasSession(user: user, device: device)
  }

  package func keep(_ session: StoredSession) throws(StoreError) {
    try inner.keep(session)
  }

  package func endSessions(user: String, device: String?, reason: String) throws(StoreError) {
    try inner.endSessions(user: user, device: device, reason: reason)
  }

  package func reopenSessions(user: String, device: String, reason: String) throws(StoreError) {
    try inner.reopenSessions(user: user, device: device, reason: reason)
  }

  package func forgetSessions(begunBefore milliseconds: Int64) throws(StoreError) {
    try inner.forgetSessions(begunBefore: milliseconds)
  }

  package func boundSessions(
    user: String, device: String, perDevice: Int, devices: Int
  ) throws(StoreError) -> [String] {
    try inner.boundSessions(user: user, device: device, perDevice: perDevice, devices: devices)
  }

  package func tokenUsers() throws(StoreError) -> [StoredTokenUser] {
    try inner.tokenUsers()
  }

  package func keep(_ user: StoredTokenUser) throws(StoreError) {
    try inner.keep(user)
  }

  package func forgetTokenUsers(issuedBefore milliseconds: Int64) throws(StoreError) {
    try inner.forgetTokenUsers(issuedBefore: milliseconds)
  }

  package func registeredDevices() throws(StoreError) -> [RegisteredDevice] {
    try inner.registeredDevices()
  }

  package func registeredDevice(_ owner: Owner) throws(StoreError) -> RegisteredDevice? {
    try inner.registeredDevice(owner)
  }

  package func keep(_ device: RegisteredDevice) throws(StoreError) {
    try inner.keep(device)
  }

  package func keep(seen devices: [SeenDevice]) throws(StoreError) {
    try inner.keep(seen: devices)
  }

  package func forgetRegistered(_ owner: Owner) throws(StoreError) {
    try inner.forgetRegistered(owner)
  }

  package func personalKeys(of user: String) throws(StoreError) -> [String: String] {
    try inner.personalKeys(of: user)
  }

  package func keep(_ keys: [(name: String, value: String?)], of user: String) throws(StoreError) {
    try inner.keep(keys, of: user)
  }

  package func keep(
    _ reports: [StoredReport], from owner: Owner, perDevice: Int, perUser: Int
  ) throws(StoreError) {
    try inner.keep(reports, from: owner, perDevice: perDevice, perUser: perUser)
  }

  package func cutReports(of user: ExactText, toBytes limit: Int) throws(StoreError) -> Int {
    try inner.cutReports(of: user, toBytes: limit)
  }

  package func device(_ owner: Owner) throws(StoreError) -> StoredDevice? {
    try inner.device(owner)
  }

  package func keep(_ devices: [(owner: Owner, device: StoredDevice)]) throws(StoreError) {
    try inner.keep(devices)
  }

  package func forgetDevices(of owner: Owner, beyond count: Int) throws(StoreError) {
    try inner.forgetDevices(of: owner, beyond: count)
  }

  package func forgetDevices(unseenForDays days: Int64) throws(StoreError) {
    try inner.forgetDevices(unseenForDays: days)
  }
}

extension StoreDecorator {
  package func known(_ ids: [OperationID]) throws(StoreError) -> [KnownOperation?] {
    try inner.known(ids)
  }

  package func members(
    of chains: [OperationID], _ owner: Owner
  ) throws(StoreError) -> [OperationID: [ChainMember]] {
    try inner.members(of: chains, owner)
  }

  package func receive(_ operations: [NewOperation]) throws(StoreError) -> [ReceivedOperation] {
    try inner.receive(operations)
  }

  package func confirm(_ ids: [OperationID], upTo version: Int64, user: String) throws(StoreError) {
    try inner.confirm(ids, upTo: version, user: user)
  }

  package func ended(_ id: OperationID) throws(StoreError) -> EndedOperation? {
    try inner.ended(id)
  }

  package func elsewhere(
    _ ids: [OperationID], user: String
  ) throws(StoreError) -> [OperationElsewhere] {
    try inner.elsewhere(ids, user: user)
  }

  package func takeOver(
    _ ids: [OperationID], groups: [String], isWaiting: Bool
  ) throws(StoreError) {
    try inner.takeOver(ids, groups: groups, isWaiting: isWaiting)
  }

  package func answerAgain(_ id: OperationID, _ answer: [UInt8]) throws(StoreError) {
    try inner.answerAgain(id, answer)
  }

  package func finishedChains(of owner: Owner) throws(StoreError) -> [OperationID] {
    try inner.finishedChains(of: owner)
  }

  package func takeUp() throws(StoreError) -> [(ReceivedOperation, wasClaimed: Bool)] {
    try inner.takeUp()
  }

  package func operations(_ ids: [OperationID]) throws(StoreError) -> [ReceivedOperation] {
    try inner.operations(ids)
  }

  package func state(of id: OperationID, user: String) throws(StoreError) -> OperationState? {
    try inner.state(of: id, user: user)
  }

  package func unknownOperations() throws(StoreError) -> [OperationID] {
    try inner.unknownOperations()
  }

  package func note(_ outcomes: [UnknownOutcome]) throws(StoreError) { try inner.note(outcomes) }

  package func unknownOutcomes() throws(StoreError) -> [UnknownOutcome] {
    try inner.unknownOutcomes()
  }

  package func claim(_ claims: [(ids: [OperationID], mark: Mark)]) throws(StoreError) {
    try inner.claim(claims)
  }

  package func release(_ ids: [OperationID], mayHaveRun: Bool) throws(StoreError) {
    try inner.release(ids, mayHaveRun: mayHaveRun)
  }

  package func answer(_ answers: [Answer], _ transaction: NumberedTransaction) throws(StoreError) {
    try inner.answer(answers, transaction)
  }
}

extension StoreDecorator {
  package func content(
    _ user: String, _ reference: BigReference
  ) throws(StoreError) -> StoredContent? {
    try inner.content(user, reference)
  }

  package func beginContent(
    _ user: String, _ reference: BigReference
  ) throws(StoreError) -> StoredContent {
    try inner.beginContent(user, reference)
  }

  package func appendContent(_ id: Int64, at start: Int64, _ bytes: [UInt8]) throws(StoreError) {
    try inner.appendContent(id, at: start, bytes)
  }

  package func setContent(_ id: Int64, _ state: StoredContent.State) throws(StoreError) {
    try inner.setContent(id, state)
  }

  package func contentPiece(_ id: Int64, at offset: Int64) throws(StoreError) -> [UInt8] {
    try inner.contentPiece(id, at: offset)
  }

  package func contentBytes(of user: String) throws(StoreError) -> Int64 {
    try inner.contentBytes(of: user)
  }

  package func discardContents(_ ids: [Int64]) throws(StoreError) {
    try inner.discardContents(ids)
  }

  package func oldContents(
    days: Int64
  ) throws(StoreError) -> [(id: Int64, user: String, reference: BigReference?)] {
    try inner.oldContents(days: days)
  }

  package func contentReader(_ id: Int64) -> @Sendable (Int64) throws(ConnectorError) -> [UInt8] {
    inner.contentReader(id)
  }
}
