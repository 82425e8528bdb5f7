public import FerryConnector
public import FerryWorld

/// When the server asks the business system for the rows of a package, and what becomes of changes that
/// meet those of others. It is read from a file beside
/// the model, and may change while the package is served.
public struct CachePolicies: Sendable, Equatable {
  /// Each entity is in one of them at most. Entities of none are followed as their connector can.
  public let groups: [CacheGroup]

  /// By the names of entities; where there is none, changes are refused.
  public let conflicts: [String: ConflictPolicy]

  /// Entities whose groups are read again after an operation of them was performed: it changes other
  /// rows too.
  public let invalidating: Set<String>

  public init(
    groups: [CacheGroup] = [], conflicts: [String: ConflictPolicy] = [:],
    invalidating: Set<String> = []
  ) {
    self.groups = groups
    self.conflicts = conflicts
    self.invalidating = invalidating
  }

  /// Nothing is said: the connector follows the changes of every entity.
  public static let none: CachePolicies = CachePolicies()
}

/// What happens where changes of an entity meet those of others.
public struct ConflictPolicy: Sendable, Equatable {
  /// Of the attributes that are not named.
  public let standard: ConflictRule
  /// By the names of attributes.
  public let attributes: [String: ConflictRule]

  public init(_ standard: ConflictRule, attributes: [String: ConflictRule] = [:]) {
    self.standard = standard
    self.attributes = attributes
  }

  /// The rule of an attribute.
  public func rule(of attribute: String) -> ConflictRule { attributes[attribute] ?? standard }
}

/// Entities whose rows are read together.
public struct CacheGroup: Sendable, Equatable {
  /// When the rows are read.
  public enum Refresh: Sendable, Equatable {
    /// When a device asks and the rows are older than the interval. Zero: each time.
    case onDemand(interval: Duration)
    /// Again and again.
    case every(Duration)
    /// At hours of the day.
    case scheduled(Schedule)
    /// When a notice or the operator says so.
    case notice

    /// The word of the file.
    public var word: String {
      switch self {
      case .onDemand: "onDemand"
      case .every, .scheduled: "scheduled"
      case .notice: "notice"
      }
    }
  }

  public let name: String
  public let entities: [String]
  public let refresh: Refresh
  /// How long a device waits for a load at most. Then it gets the rows that are there.
  public let wait: Duration

  public init(name: String, entities: [String], refresh: Refresh, wait: Duration = .seconds(60)) {
    self.name = name
    self.entities = entities
    self.refresh = refresh
    self.wait = wait
  }
}

/// What is wrong with a file of policies.
public struct PolicyFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// A path into the file such as `/groups/stock/interval`, or a byte.
  public let place: String
  public let problem: String
  public let cure: String

  public init(place: String, problem: String, cure: String) {
    self.place = place
    self.problem = problem
    self.cure = cure
  }

  public var description: String { "\(place) \(problem). \(cure)" }
}

/// A time zone: how far its clocks are ahead of UTC at a moment, in seconds.
public struct ZoneClock: Sendable, Equatable {
  public let name: String
  private let offset: @Sendable (Timestamp) -> Int64

  public init(name: String, offset: @escaping @Sendable (Timestamp) -> Int64) {
    self.name = name
    self.offset = offset
  }

  public static let utc: ZoneClock = ZoneClock(name: "UTC") { _ in 0 }

  public func secondsAhead(at moment: Timestamp) -> Int64 { offset(moment) }

  /// By their names.
  public static func == (left: ZoneClock, right: ZoneClock) -> Bool { left.name == right.name }
}
