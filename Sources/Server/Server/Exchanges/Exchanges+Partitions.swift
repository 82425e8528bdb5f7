import FerryModel
import FerryWire
import FerryWorld

/// Which partitions a device has, and how long a partition is kept that no device has.
extension Exchanges {
  /// The numbers of the subscription's partitions with their groups; new ones are made.
  func partitions(
    of groups: [String], _ rights: Rights, _ owner: Owner
  ) throws(ServerError) -> [Int64: String] {
    let limit = limits.partitionsPerSubscription
    var places: [Place] = []
    for group in groups {
      places += try reading { () throws(StoreError) in
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
      let number = try reading { () throws(StoreError) in try directory.number(of: place) }
      if let number { numbers[number] = place.group.text } else { missing.append(place) }
    }
    guard !missing.isEmpty else { return numbers }
    let made = try make(missing, Set(numbers.keys), owner)
    return numbers.merging(made) { known, _ in known }
  }

  /// A user chooses the values of free parameters. To make room, partitions that have no row and are on
  /// no open channel are removed: first those that were asked for longest ago.
  private func make(
    _ missing: [Place], _ needed: Set<Int64>, _ owner: Owner
  ) throws(ServerError) -> [Int64: String] {
    let limit = limits.emptyPartitionsPerUser
    let user = owner.user.text
    try accounts.keepVisits()
    let empty = try reading { () throws(StoreError) in try store.emptyPartitions(askedBy: user) }
    var over = empty.count + missing.count - limit
    var bytesOver =
      empty.reduce(0) { $0 + $1.bytes }
      + missing.reduce(0) { $0 + $1.values.text.utf8.count } - limits.emptyPartitionBytesPerUser
    let inUse = over > 0 || bytesOver > 0 ? partitionsInUse().union(needed) : []
    var old: [Int64] = []
    for partition in empty where !inUse.contains(partition.number) {
      guard over > 0 || bytesOver > 0 else { break }
      old.append(partition.number)
      over -= 1
      bytesOver -= partition.bytes
    }
    guard over <= 0, bytesOver <= 0 else {
      throw ServerError(
        .tooManyPartitions,
        "the devices of this user ask for more than \(limit) partitions without a row, or for more "
          + "than \(limits.emptyPartitionBytesPerUser) bytes of their parameters",
        hint: "Remove parameter sets that are no longer needed on the devices of this user.")
    }
    defer { core.memory.committedAll() }
    return try guarded { () throws(StoreError) in
      try store.numbered { transaction throws(StoreError) in
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
    let now = StoredDevice(
      incarnation: state.hello.incarnation, rightsVersion: state.rightsVersion, isOfToday: true)
    guard core.memory.device(state.owner) != now else { return }
    try guarded { () throws(StoreError) in
      let known = try store.device(state.owner)
      guard known != now else { return }
      guard !accounts.keepsLater(now, known, of: state.owner, numbers) else { return }
      try store.transaction { () throws(StoreError) in
        try store.keep([(state.owner, now)])
        try store.asked(numbers)
        if known == nil { try store.forgetDevices(of: state.owner, beyond: limits.devicesPerUser) }
      }
    }
    core.memory.note(now, of: state.owner)
  }
}
