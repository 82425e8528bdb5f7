import Ferry
import FerryModel
import Foundation

/// The object that is measured with: ten attributes, about 190 bytes as JSON.
///
/// The values of an item follow from its number, so that both sides of a ratio write the same.
struct Item: BusinessObject {
  static let entity: Entity = package.entities[0]
  static let package: Package = {
    let reading = ModelReader.read(Array(model.utf8), file: "model.json")
    guard let package = reading.package else { preconditionFailure("\(reading.errors)") }
    return package
  }()

  var record: ObjectRecord
  init(record: ObjectRecord) { self.record = record }

  var name: String {
    get { record.get(6) }
    set { record.set(6, newValue) }
  }

  /// A new item with the values of its number.
  init(_ number: Int64, in database: FerryDatabase) {
    self.init(record: ObjectRecord(Item.entity, in: database))
    for (position, value) in ItemValues.integers(number).enumerated() {
      record.set(position, value)
    }
    record.set(4, Double(number) * 0.25)
    record.set(5, Double(number % 360))
    for position in 6...9 {
      record.set(position, ItemValues.texts(position)[ItemValues.choice(number, position)])
    }
  }

  static let model: String = model()

  /// `rule`: a partition rule and relationships, each with a comma before; `others`: further entities.
  static func model(rule: String = "", others: String = "") -> String {
    let types = ["long", "long", "long", "long", "double", "double"]
    let attributes = ItemValues.columns.enumerated().map { position, name in
      #"{"name": "\#(name)", "type": "\#(position < 6 ? types[position] : "string")"}"#
    }
    return """
      {"name": "Bench", "version": "1.0", "groups": ["default"],
       "entities": [{"name": "Item", "table": "items", "group": "default",
         "attributes": [\(attributes.joined(separator: ", "))], "key": ["itemID"],
         "keyOrigin": "app", "operations": ["create", "update", "delete"]\(rule)}\(others)]}
      """
  }
}

/// What an item of a number holds.
enum ItemValues {
  static let columns = [
    "itemID", "amount", "price", "shelf", "weight", "angle", "name", "city", "note", "code",
  ]

  static func integers(_ number: Int64) -> [Int64] {
    [number, number &* 31 % 100_000, number &* 17 % 5_000_000, number % 700]
  }

  /// How many different texts an attribute has.
  static let variety: Int64 = 997

  static func choice(_ number: Int64, _ position: Int) -> Int {
    Int((number &* Int64(position)) % variety)
  }

  static func texts(_ position: Int) -> [String] { all[position - 6] }

  private static let all: [[String]] = [
    (0..<variety).map { "Alfreds Futterkiste \($0)" },
    (0..<variety).map { "Niederberg \($0)" },
    (0..<variety).map {
      "a note \($0) of some ninety letters, as somebody writes it who has been at the customer's"
    },
    (0..<variety).map { "A-\($0)-17" },
  ]

  static func values(_ number: Int64) -> [AttributeValue] {
    integers(number).map(AttributeValue.integer)
      + [.double(Double(number) * 0.25), .double(Double(number % 360))]
      + (6...9).map { .text(texts($0)[choice(number, $0)]) }
  }

  /// The same texts, bound without a copy.
  nonisolated(unsafe) static let statics: [[StaticText]] = all.map { $0.map(StaticText.init) }

  /// Binds a number's ten values from place `first` on.
  static func bind(_ number: Int64, to statement: RawStatement, from first: Int32) {
    statement.bind(number, first)
    statement.bind(number &* 31 % 100_000, first + 1)
    statement.bind(number &* 17 % 5_000_000, first + 2)
    statement.bind(number % 700, first + 3)
    statement.bind(Double(number) * 0.25, first + 4)
    statement.bind(Double(number % 360), first + 5)
    for position in 6...9 {
      statement.bind(statics[position - 6][choice(number, position)], first + Int32(position))
    }
  }
}
