import FerryConnector
import FerryModel

/// What somebody says was changed in the business system.
package struct Notice: Sendable, Equatable {
  package enum Content: Sendable, Equatable {
    /// Nothing more is said: it is read.
    case hint
    /// It and what belongs to it may have been changed: it is read, and everything is compared, because
    /// nobody knows the keys of what is new.
    case whole
    /// The values by position, perhaps not all of them.
    case values([Int: AttributeValue])
    case deleted
  }

  package let entity: Entity
  package let key: ObjectKey
  package let content: Content
  /// Of the system's own version attribute: an older notice changes nothing. Nil where nothing is said.
  package let asOf: (position: Int, value: AttributeValue)?

  package init(
    _ entity: Entity, _ key: ObjectKey, _ content: Content,
    asOf: (position: Int, value: AttributeValue)? = nil
  ) {
    self.entity = entity
    self.key = key
    self.content = content
    self.asOf = asOf
  }

  package static func == (one: Notice, other: Notice) -> Bool {
    one.entity == other.entity && one.key == other.key && one.content == other.content
      && one.asOf?.position == other.asOf?.position && one.asOf?.value == other.asOf?.value
  }

  var name: ObjectName { ObjectName(entity: entity.name, key: key) }
}

/// What became of a notice.
package enum NoticeOutcome: Sendable, Equatable {
  /// The cache has what it says.
  case taken
  /// The object is read from the business system.
  case readBack
  /// The cache has something newer.
  case older
  /// Too many objects would be deleted at once: everything is compared, and a load decides.
  case held
  /// Values that the model cannot take.
  case unfit(reason: String)
}

/// Decides what may be written of a notice. Pure.
struct NoticeRule {
  /// What is known of the object when the notice is looked at.
  struct Known {
    /// Its values in the cache; nil where there is no row.
    let values: [AttributeValue]?
    /// An operation may be changing it.
    let isClaimed: Bool
    /// It was written a short time ago, or nobody knows: the notice may be older.
    let isDoubtful: Bool
  }

  enum Decision: Equatable {
    case write([AttributeValue]?)
    case read
    case ignore
  }

  static func decide(_ notice: Notice, _ known: Known) -> Decision {
    if notice.content == .hint || notice.content == .whole { return .read }
    var isNewer = false
    if let asOf = notice.asOf, let values = known.values {
      guard let order = order(asOf.value, values[asOf.position]) else { return .read }
      let isOlder = if case .deleted = notice.content { order < 0 } else { order <= 0 }
      // What a claimed object becomes is not known yet.
      if isOlder { return known.isClaimed ? .read : .ignore }
      isNewer = true
    }
    guard !known.isClaimed, isNewer || !known.isDoubtful else { return .read }
    switch notice.content {
    case .hint, .whole: return .read
    case .deleted: return known.values == nil ? .ignore : .write(nil)
    case .values(let given):
      var row: [AttributeValue] = []
      for (position, attribute) in notice.entity.attributes.enumerated() {
        if let value = given[position] ?? known.values?[position] {
          row.append(value)
        } else if attribute.isNullable, known.values != nil {
          row.append(.null)
        } else {
          // Of a new object everything must be said.
          return .read
        }
      }
      return .write(row)
    }
  }

  /// Below zero where the first is earlier; nil where they have no order.
  static func order(_ one: AttributeValue, _ other: AttributeValue) -> Int? {
    switch (one, other) {
    case (.integer(let one), .integer(let other)): one < other ? -1 : one > other ? 1 : 0
    case (.text(let one), .text(let other)):
      if let left = LocalDateTime(one), let right = LocalDateTime(other) {
        left < right ? -1 : left > right ? 1 : 0
      } else if let left = Int64(one), let right = Int64(other) {
        left < right ? -1 : left > right ? 1 : 0
      } else {
        nil
      }
    default: nil
    }
  }
}
