import FerryConnector
import FerryModel
import FerryWorld

/// When the server asks the business system for the rows of a package, and what becomes of changes that
/// meet those of others. It is read from a file beside
/// the model, and may change while the package is served.
package struct CachePolicies: Sendable, Equatable {
  /// Each entity is in one of them at most. Entities of none are followed as their connector can.
  package let groups: [CacheGroup]

  /// By the names of entities; where there is none, changes are refused.
  package let conflicts: [String: ConflictPolicy]

  /// By the names of entities: what becomes of rows after operations on them were performed.
  package let operations: [String: OperationPolicies]

  package init(
    groups: [CacheGroup] = [], conflicts: [String: ConflictPolicy] = [:],
    operations: [String: OperationPolicies] = [:]
  ) {
    self.groups = groups
    self.conflicts = conflicts
    self.operations = operations
  }

  /// Nothing is said: the connector follows the changes of every entity.
  package static let none: CachePolicies = CachePolicies()
}

/// What becomes of the rows of an entity after operations on them were performed.
package struct OperationPolicies: Sendable, Equatable {
  /// Of the operations that are not named.
  package let standard: OperationPolicy
  package let kinds: [OperationKind: OperationPolicy]

  package init(_ standard: OperationPolicy, kinds: [OperationKind: OperationPolicy] = [:]) {
    self.standard = standard
    self.kinds = kinds
  }

  package func policy(of kind: OperationKind) -> OperationPolicy { kinds[kind] ?? standard }
}

/// What happens where changes of an entity meet those of others.
package struct ConflictPolicy: Sendable, Equatable {
  /// Of the attributes that are not named.
  package let standard: ConflictRule
  /// By the names of attributes.
  package let attributes: [String: ConflictRule]

  package init(_ standard: ConflictRule, attributes: [String: ConflictRule] = [:]) {
    self.standard = standard
    self.attributes = attributes
  }

  /// The rule of an attribute.
  package func rule(of attribute: String) -> ConflictRule { attributes[attribute] ?? standard }
}

/// Entities whose rows are read together.
package struct CacheGroup: Sendable, Equatable {
  /// When the rows are read.
  package enum Refresh: Sendable, Equatable {
    /// When a device asks and the rows are older than the interval. Zero: each time.
    case onDemand(interval: Duration)
    /// Again and again.
    case every(Duration)
    /// At hours of the day.
    case scheduled(Schedule)
    /// When a notice or the operator says so.
    case notice

    /// The word of the file.
    package var word: String {
      switch self {
      case .onDemand: "onDemand"
      case .every, .scheduled: "scheduled"
      case .notice: "notice"
      }
    }
  }

  package let name: String
  package let entities: [String]
  package let refresh: Refresh
  /// How long a device waits for a load at most. Then it gets the rows that are there.
  package let wait: Duration

  package init(name: String, entities: [String], refresh: Refresh, wait: Duration = .seconds(60)) {
    self.name = name
    self.entities = entities
    self.refresh = refresh
    self.wait = wait
  }
}

/// What is wrong with a file of policies.
package struct PolicyFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// A path into the file such as `/groups/stock/interval`, or a byte.
  package let place: String
  package let problem: String
  package let cure: String

  package init(place: String, problem: String, cure: String) {
    self.place = place
    self.problem = problem
    self.cure = cure
  }

  package var description: String { "\(place) \(problem). \(cure)" }
}

/// A time zone: how far its clocks are ahead of UTC at a moment, in seconds.
package struct ZoneClock: Sendable, Equatable {
  package let name: String
  private let offset: @Sendable (Timestamp) -> Int64

  package init(name: String, offset: @escaping @Sendable (Timestamp) -> Int64) {
    self.name = name
    self.offset = offset
  }

  package static let utc: ZoneClock = ZoneClock(name: "UTC") { _ in 0 }

  package func secondsAhead(at moment: Timestamp) -> Int64 { offset(moment) }

  /// By their names.
  package static func == (left: ZoneClock, right: ZoneClock) -> Bool { left.name == right.name }
}
