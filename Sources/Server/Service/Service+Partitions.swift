import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// Which partitions a device has, and how long a partition is kept that no device has.
extension Service {
  /// The numbers of the subscription's partitions with their groups; new ones are made.
  func partitions(
    of groups: [String], _ rights: Rights, _ owner: Owner
  ) throws(ServerError) -> [Int64: String] {
    let limit = limits.partitionsPerSubscription
    var places: [Place] = []
    for group in groups {
      places += try reading { () throws(SQLiteError) in
        try rights.places(in: group, directory: directory, limit: limit)
      }
    }
    guard places.count <= limit else {
      throw ServerError(
        .tooManyPartitions, "the subscription has more than \(limit) partitions",
        hint: "Give the user fewer claims, or the entities a partition rule with fewer values.")
    }
    if places.count * 5 >= limit * 4 {
      world.log.warn(
        "a subscription nears the limit of partitions", ("device", owner.device.text),
        ("partitions", String(places.count)), ("limit", String(limit)))
    }
    var numbers: [Int64: String] = [:]
    var missing: [Place] = []
    for place in places {
      let number = try reading { () throws(SQLiteError) in try directory.number(of: place) }
      if let number { numbers[number] = place.group.text } else { missing.append(place) }
    }
    guard !missing.isEmpty else { return numbers }
    let made = try make(missing, Set(numbers.keys), owner)
    return numbers.merging(made) { known, _ in known }
  }

  /// A user chooses the values of free parameters: what was asked for longest ago, has no row and is
  /// on no line that is open goes for what is asked for now.
  private func make(
    _ missing: [Place], _ needed: Set<Int64>, _ owner: Owner
  ) throws(ServerError) -> [Int64: String] {
    let limit = limits.emptyPartitionsPerUser
    let user = owner.user.text
    let empty = try reading { () throws(SQLiteError) in try directory.empty(askedBy: user) }
    let over = empty.count + missing.count - limit
    let inUse = over > 0 ? partitionsInUse().union(needed) : []
    let old = over > 0 ? Array(empty.filter { !inUse.contains($0) }.prefix(over)) : []
    guard old.count >= over else {
      throw ServerError(
        .tooManyPartitions,
        "the devices of this user ask for more than \(limit) partitions without a row",
        hint: "Purge sets of parameters that are no longer needed.")
    }
    return try guarded { () throws(SQLiteError) in
      try store.numbered { transaction throws(SQLiteError) in
        try directory.remove(old, transaction)
        var made: [Int64: String] = [:]
        for place in missing {
          let number = try directory.number(of: place, making: transaction, for: user)
          made[number] = place.group.text
        }
        return made
      }
    }
  }

  /// Those of all exchanges that are open: they would miss what comes into a partition that takes the
  /// place of one of theirs.
  func partitionsInUse() -> Set<Int64> {
    var found: Set<Int64> = []
    for exchange in exchanges.values {
      for download in exchange.state.downloads {
        found.formUnion(download.cursors.map(\.partition))
      }
    }
    return found.union(interests.partitionsWaitedFor)
  }

  /// Notes once a day, and when its rights changed, that a device was here and what it has.
  func remember(
    _ state: ExchangeState, _ numbers: some Collection<Int64>
  ) throws(ServerError) {
    try guarded { () throws(SQLiteError) in
      let hello = state.hello
      let known = try store.writer.row(
        """
        SELECT incarnation, rights_version, last_day = (SELECT days FROM server) FROM device
        WHERE id = ? AND user = ? AND package = ?
        """, .text(hello.device), .text(state.identity.user), .integer(store.packageNumber))
      guard known != [.text(hello.incarnation), .text(state.rightsVersion), .integer(1)] else {
        return
      }
      try store.writer.transaction { () throws(SQLiteError) in
        try store.writer.run(
          """
          INSERT OR REPLACE INTO device (id, user, package, incarnation, rights_version, last_day)
          SELECT ?, ?, ?, ?, ?, days FROM server
          """, .text(hello.device), .text(state.identity.user), .integer(store.packageNumber),
          .text(hello.incarnation), .text(state.rightsVersion))
        try directory.asked(numbers)
        if known == nil { try forgetDevices(of: state.owner) }
      }
    }
  }

  /// Those of a user that were here longest ago, beside the one that is here now.
  private func forgetDevices(of owner: Owner) throws(SQLiteError) {
    try store.writer.run(
      """
      DELETE FROM device WHERE user = ?1 AND package = ?2 AND id IN (
        SELECT id FROM device WHERE user = ?1 AND package = ?2
        ORDER BY id = ?3 DESC, last_day DESC, id LIMIT -1 OFFSET ?4)
      """, .text(owner.user.text), .integer(store.packageNumber), .text(owner.device.text),
      .integer(Int64(limits.devicesPerUser)))
  }

  /// Devices that nobody has seen for as long as their operations are remembered.
  func forgetOldDevices() throws(SQLiteError) {
    try store.writer.run(
      "DELETE FROM device WHERE package = ? AND last_day < (SELECT days FROM server) - ?",
      .integer(store.packageNumber), .integer(limits.operationMemoryDays))
  }
}
