import FerryConnector
import FerryModel

/// The business system of the walk: it compares what a change was based on, refuses a reference to
/// what is not there, and performs a group as one.
struct WalkBusiness {
  enum Result {
    /// The key of each.
    case performed([Int8])
    /// Nothing is changed.
    case refused(place: Int, WalkRefusal)
  }

  let model: WalkModel
  private(set) var rows: [WalkRow]
  /// A key that nothing has had.
  private var freeKey: Int8

  init(_ model: WalkModel, _ world: WalkWorld) {
    self.model = model
    rows = world.business
    freeKey = world.freeKey
  }

  mutating func perform(_ operations: [ConnectorOperation]) -> Result {
    let before = rows
    var given = GivenKeys()
    var keys: [Int8] = []
    for (place, asked) in operations.enumerated() {
      do throws(WalkRefusal) {
        let key = try perform(given.applied(to: asked))
        given.learn(asked, key: model.key(key))
        keys.append(key)
      } catch {
        rows = before
        return .refused(place: place, error)
      }
    }
    return .performed(keys)
  }

  private mutating func perform(_ operation: ConnectorOperation) throws(WalkRefusal) -> Int8 {
    let changed = model.some(operation.changed)
    let base = model.some(operation.base)
    if changed.hasReference, changed.other != 0, !rows.contains(where: { $0.key == changed.other }),
      changed.other != operation.key.map(model.number)
    {
      throw .missing(changed.other)
    }
    switch operation.kind {
    case .create:
      let key = operation.key.map(model.number) ?? freeKey
      if operation.key == nil { freeKey += 1 }
      guard !rows.contains(where: { $0.key == key }) else {
        throw .exists(key)
      }
      rows.append(
        WalkRow(
          key: key, value: max(changed.value, 0),
          other: changed.hasReference ? changed.other : 0))
      return key
    case .update, .delete:
      guard let key = operation.key.map(model.number),
        let place = rows.firstIndex(where: { $0.key == key })
      else { throw .gone }
      let row = rows[place]
      guard base.value == WalkValues.absent || base.value == row.value,
        !base.hasReference || base.other == row.other
      else { throw .changed(row) }
      if operation.kind == .delete {
        guard !rows.contains(where: { $0.other == key && $0.key != key }) else {
          throw .referred(key)
        }
        rows.remove(at: place)
      } else {
        if changed.value != WalkValues.absent { rows[place].value = changed.value }
        if changed.hasReference { rows[place].other = changed.other }
      }
      return key
    }
  }
}

/// Why the business system says no.
enum WalkRefusal: Error {
  /// What the row is to refer to is not there.
  case missing(Int8)
  /// Another row refers to what is deleted.
  case referred(Int8)
  /// There is a row with the key of the new one.
  case exists(Int8)
  case gone
  /// It is not what the change was based on.
  case changed(WalkRow)

  var refusal: Refusal {
    switch self {
    case .missing, .referred, .exists: FerryConnector.Refusal(code: 409, message: "\(self)")
    case .gone: FerryConnector.Refusal(code: 404, message: "\(self)")
    case .changed: FerryConnector.Refusal(code: 412, message: "\(self)")
    }
  }
}

extension WalkWorld {
  /// The lowest final key above all that are known anywhere.
  fileprivate var freeKey: Int8 {
    var highest: Int8 = 2
    for row in business + cache { highest = max(highest, row.key, row.other) }
    for device in [device, backup ?? WalkDevice()] {
      for object in device.objects {
        for row in [object.visible, object.image] {
          highest = max(highest, row?.key ?? 0, row?.other ?? 0)
        }
      }
      for operation in device.operations {
        highest = max(
          highest, operation.key, operation.changed.other, operation.base.other)
      }
    }
    for entry in stored { highest = max(highest, entry.key, entry.performedKey) }
    return highest + 1
  }
}
