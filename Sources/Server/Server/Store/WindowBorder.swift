import FerryJSON
import FerryModel

/// The days of a window as the store has them: a row is placed by these, and never by the clock.
package struct WindowBorder: Sendable, Equatable {
  /// The name of the entity.
  package let entity: String
  package let attribute: String
  /// Of the attribute in the entity.
  package let position: Int64
  /// Counted from 1970.
  package let days: ClosedRange<Int64>

  package init(entity: String, attribute: String, position: Int64, days: ClosedRange<Int64>) {
    self.entity = entity
    self.attribute = attribute
    self.position = position
    self.days = days
  }

  /// As a store gives its columns; nil where they make no sense.
  package init?(
    entity: String?, attribute: String?, position: Int64?, first: Int64?, last: Int64?
  ) {
    guard let entity, let attribute, let position, let first, let last, first <= last else {
      return nil
    }
    self.init(entity: entity, attribute: attribute, position: position, days: first...last)
  }
}

/// What an operator reads of a window.
extension WindowBorder {
  var shownFirst: String { WindowBorder.shown(days.lowerBound) }
  var shownLast: String { WindowBorder.shown(days.upperBound) }

  private static func shown(_ day: Int64) -> String {
    LocalDate(daysSince1970: day)?.description ?? "day \(day)"
  }

  /// Why no device has a row, where that is because of its day; nil where its day is in the window.
  /// `body`: the row as the store has it.
  private func sentence(on body: [UInt8]) -> String? {
    let name = "\(entity).\(attribute)"
    let values = (try? JSONNode.parse(body))?.array ?? []
    let text = values.indices.contains(Int(position)) ? values[Int(position)].string : nil
    guard let text, let day = PartitionWindow.day(of: .text(text)) else {
      return "The row is left out by the window of \(name): it has no day there."
    }
    guard !days.contains(day) else { return nil }
    return "The row is left out by the window of \(name): \(text) is not from \(shownFirst) to "
      + "\(shownLast)."
  }

  /// Why a row is in no partition. `borders`: all of its package.
  package static func verdict(
    of entity: String, body: [UInt8], _ borders: [WindowBorder]
  ) -> String {
    if let own = borders.first(where: { $0.entity == entity }),
      let sentence = own.sentence(on: body)
    {
      return sentence
    }
    let parents = borders.isEmpty ? "" : ", or left out by a window"
    return "The row is in no partition: a value of its partition rule is null, or its parent is "
      + "missing\(parents)."
  }
}
