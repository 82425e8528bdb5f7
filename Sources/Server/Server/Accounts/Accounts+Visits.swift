import FerryModel
import FerryWorld

/// Devices that were here, until one write notes all of them.
///
/// What is lost with a crash is said again by the next request of the device.
struct Visits {
  private(set) var seen: [Owner: SeenDevice] = [:]
  private(set) var days: [Owner: StoredDevice] = [:]
  /// Those that these devices have.
  private(set) var partitions: Set<Int64> = []
  /// When the first of them was noted.
  private var since: Timestamp?

  /// How long a visit waits to be written, and how many do at most.
  static let interval: Duration = .seconds(10)
  static let limit: Int = 2_000

  var isEmpty: Bool { since == nil }

  func isDue(at now: Timestamp) -> Bool {
    guard let since else { return false }
    return now >= since.advanced(by: Visits.interval) || seen.count + days.count >= Visits.limit
  }

  mutating func note(_ device: SeenDevice, at now: Timestamp) {
    seen[device.owner] = device
    since = since ?? now
  }

  mutating func note(
    _ device: StoredDevice, of owner: Owner, _ partitions: some Sequence<Int64>, at now: Timestamp
  ) {
    days[owner] = device
    self.partitions.formUnion(partitions)
    since = since ?? now
  }

  /// The register has something newer.
  mutating func forget(_ owner: Owner) { seen[owner] = nil }
}

extension Accounts {
  /// Writes the visits that have waited for long enough, in one transaction. Call it each second. A
  /// store that fails is heard of by `storeFailed`; the visits stay.
  func keepDueVisits() {
    guard visits.isDue(at: world.clock.moment) else { return }
    do throws(ServerError) { try keepVisits() } catch {
      world.log.debug("visits of devices are not noted yet", ("reason", error.message))
    }
  }

  /// Writes all visits that wait, in one transaction.
  func keepVisits() throws(ServerError) {
    guard !visits.isEmpty else { return }
    let (seen, days) = (visits.seen, visits.days)
    // In one order: nodes that write the same rows wait for each other, and not in a circle.
    let owners = Set(seen.keys).union(days.keys).sorted {
      ($0.user, $0.device) < ($1.user, $1.device)
    }
    let partitions = visits.partitions.sorted()
    try guarded { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        if !seen.isEmpty { try store.keep(seen: owners.compactMap { seen[$0] }) }
        guard !days.isEmpty else { return }
        try store.keep(owners.compactMap { owner in days[owner].map { (owner, $0) } })
        try store.asked(partitions)
      }
    }
    visits = Visits()
  }

  /// Whether the visit is written with others, later: a device that was here before is the same.
  func keepsLater(
    _ now: StoredDevice, _ known: StoredDevice?, of owner: Owner,
    _ numbers: some Collection<Int64>
  ) -> Bool {
    guard collectsVisits, let known, known.incarnation.hasBytes(of: now.incarnation),
      known.rightsVersion == now.rightsVersion
    else { return false }
    visits.note(now, of: owner, numbers, at: world.clock.moment)
    return true
  }

  /// Those of all packages, before somebody reads the register.
  func keepAllVisits() throws(ServerError) {
    for accounts in users.accounts { try accounts.keepVisits() }
  }
}

extension RegisteredDevice {
  /// Whether nothing is different but what is different with each visit.
  func differsByVisit(from other: RegisteredDevice) -> Bool {
    var same = self
    same.lastSeen = other.lastSeen
    same.pending = other.pending
    same.cursors = other.cursors
    return same == other
  }
}
