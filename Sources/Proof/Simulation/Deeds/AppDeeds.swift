import Ferry
import FerryModel

/// What an app did to its device in one step, and what it was told of it.
///
/// Written before the store is called, so that a call which ends in a crash can be looked at too.
struct AppDeeds {
  /// How the step ended.
  enum End {
    /// All of it was done.
    case done
    /// The app was told that nothing of it was.
    case undone
    /// The process died meanwhile: all of it or nothing.
    case died
  }

  /// What the app was told that is to be sent.
  enum Submitted {
    case object(ObjectNumber)
    case all(entity: String)
  }

  /// An object that was to be made, before its surrogate key is known.
  struct Made {
    let entity: Entity
    let values: [AttributeValue]

    /// Without a key, where the device makes it up.
    var given: [Int: AttributeValue] {
      var given: [Int: AttributeValue] = [:]
      for position in values.indices where !values[position].isNull {
        given[position] = values[position]
      }
      return given
    }
  }

  /// What was done, in its order.
  private(set) var acts: [(act: StatedAct.Act, object: ObjectNumber)] = []
  /// Objects whose pending changes may be other ones now.
  private(set) var touched: Set<ObjectNumber> = []
  /// What must be visible of an object, by position; nil where nothing may be.
  private(set) var shown: [ObjectNumber: [Int: AttributeValue]?] = [:]
  /// Objects of which nothing waits any more.
  private(set) var cancelled: Set<ObjectNumber> = []
  private(set) var submitted: Submitted?
  private(set) var making: Made?
  var end = End.done
  /// The app was told that something of what it submitted cannot be sent and stays.
  var stays = false

  /// Whether nothing was to change.
  var isEmpty: Bool { touched.isEmpty && submitted == nil && making == nil }

  mutating func make(_ entity: Entity, _ values: [AttributeValue]) {
    making = Made(entity: entity, values: values)
  }

  /// It was made.
  mutating func madeIs(_ record: ObjectRecord) {
    guard let making, let object = record.object else { return }
    self.making = nil
    show(making.given, of: ObjectNumber(entity: making.entity.name, number: object))
  }

  /// It could not be made, and the rest stands.
  mutating func madeIsNot() { making = nil }

  mutating func show(_ values: [Int: AttributeValue]?, of object: ObjectNumber) {
    acts.append((values == nil ? .delete : .edit, object))
    touched.insert(object)
    shown[object] = .some(values)
  }

  mutating func touch(_ object: ObjectNumber) {
    touched.insert(object)
    shown[object] = nil
  }

  mutating func cancel(_ object: ObjectNumber) {
    acts.append((.cancel, object))
    touch(object)
    cancelled.insert(object)
  }

  mutating func submit(_ what: Submitted) { submitted = what }
}
