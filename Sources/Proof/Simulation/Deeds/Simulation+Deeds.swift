import Ferry
import FerryModel

/// What the app does is written down before it is done, for `DeviceWatch` to look at.
extension Simulation {
  func save(
    _ record: ObjectRecord, _ kind: OperationKind, _ device: SimulatedDevice
  ) throws(FerryError) -> ObjectRecord? {
    let change = try record.change(kind)
    try note(change, of: record, device)
    let saved: ObjectRecord?
    do throws(FerryError) {
      saved = try PendingStore.save(FlawedApp.spoiled(change, planted), in: device.store)
    } catch {
      if kind == .create, !device.disk.isDying { device.watch.deeds.madeIsNot() }
      throw error
    }
    if kind == .create, let saved { device.watch.deeds.madeIs(saved) }
    return saved
  }

  private func note(
    _ change: LocalChange, of record: ObjectRecord, _ device: SimulatedDevice
  ) throws(FerryError) {
    if change.kind == .create { device.watch.deeds.make(change.entity, change.after ?? []) }
    guard let object = change.object, change.kind != .create else { return }
    let name = ObjectNumber(entity: change.entity.name, number: object)
    guard let after = change.after else {
      try touchLines(of: record, device)
      device.watch.deeds.show(nil, of: name)
      return
    }
    // What the app did not change stays what it is by now.
    guard let present = try Records(device.store).of(change.entity, object: object) else { return }
    var values = present.values
    for position in values.indices where after[position] != change.seen[position] {
      values[position] = after[position]
    }
    device.watch.deeds.show(
      Dictionary(uniqueKeysWithValues: values.enumerated().map { ($0, $1) }), of: name)
  }

  /// Lines that are only here go with their order, and what is left of those that were deleted while
  /// they waited for it; so do tags with either.
  func touchLines(of record: ObjectRecord, _ device: SimulatedDevice) throws(FerryError) {
    try touchTags(of: record, device)
    guard record.entity.name == "Order" else { return }
    let lines = try Records(device.store).all(
      SimulatedBusiness.line, "WHERE _pending = 'C' ORDER BY _id", [])
    for line in lines where line.values[0] == record.values[0] {
      guard let object = line.object else { continue }
      device.watch.deeds.touch(ObjectNumber(entity: line.entity.name, number: object))
    }
    for made in device.watch.operations.values
    where made.entity == "Line" && made.kind == .create && made.changed[0] == record.values[0] {
      guard try Records(device.store).of(SimulatedBusiness.line, object: made.object) == nil else {
        continue
      }
      device.watch.deeds.touch(made.name)
    }
  }

  private func touchTags(
    of record: ObjectRecord, _ device: SimulatedDevice
  ) throws(FerryError) {
    guard ["Order", "Line"].contains(record.entity.name) else { return }
    let isOfLine = record.entity.name == "Line"
    let order = record.values[0]
    let tags = try Records(device.store).all(
      SimulatedBusiness.tag, "WHERE _pending <> 'N' ORDER BY _id", [])
    for tag in tags where tag.values[1] == order && (!isOfLine || tag.values[2] == record.values[1])
    {
      guard let object = tag.object else { continue }
      device.watch.deeds.touch(ObjectNumber(entity: tag.entity.name, number: object))
    }
    for made in device.watch.operations.values where made.entity == "Tag" {
      guard made.changed[1] == order else { continue }
      guard try Records(device.store).of(SimulatedBusiness.tag, object: made.object) == nil else {
        continue
      }
      device.watch.deeds.touch(made.name)
    }
  }

  /// A content is written: nothing else of its object changes.
  func noteContent(
    _ reference: BigReference?, of record: ObjectRecord, _ position: Int, _ device: SimulatedDevice
  ) throws(FerryError) {
    guard let object = record.object,
      let present = try Records(device.store).of(record.entity, object: object)
    else { return }
    var values: [Int: AttributeValue] = [:]
    for (place, value) in present.values.enumerated() { values[place] = value }
    values[position] = reference.map { .text($0.description) } ?? .null
    device.watch.deeds.show(
      values, of: ObjectNumber(entity: record.entity.name, number: object))
  }
}
