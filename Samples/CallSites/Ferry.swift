// The public interface that Decision 0046 proposes, as declarations only. Scripts/check call-sites
// compiles the call sites beside this file against it. Nothing here ships or runs.

/// A local database and its connection to a server.
public final class FerryDatabase: Sendable {
  public let state: State
  /// Everything that happens from now on; each loop has its own sequence.
  public var events: AsyncStream<Event> { declaration() }

  public func signIn(user: String, password: String) async throws(FerryError) { declaration() }
  /// Ends the session and deletes the local data. Throws `pendingChanges` if something was not sent.
  public func signOut(discardingPending: Bool = false) async throws(FerryError) { declaration() }
  public func synchronize(awaitingAnswers: Bool = false) async throws(FerryError) { declaration() }
  /// Several changes as one: all are saved and later accepted, or none.
  public func transaction<Result: Sendable>(
    _ body: @Sendable () throws -> Result
  ) async throws -> Result { declaration() }

  init(state: State) { self.state = state }

  /// Follows the connection; views that read it are updated.
  @MainActor public final class State: Sendable {
    public var isConnected: Bool { declaration() }
    public var needsSignIn: Bool { declaration() }
    /// Nil when no download is running.
    public var download: Progress? { declaration() }
    public var pendingCount: Int { declaration() }
    public var refused: [ObjectReference] { declaration() }
    nonisolated init() {}
  }

  public struct Progress: Sendable {
    public var rows: Int
    /// From 0 to 1; nil when the total is unknown.
    public var fraction: Double?
  }

  public enum Event: Sendable {
    case connected, disconnected(FerryError), signInNeeded(FerryError)
    case downloading(Progress), imported(entities: Set<String>)
    case accepted(ObjectReference), refused(ObjectReference, Refusal), unknown(ObjectReference)
    case storageLow, storageRecovered
  }
}

/// An object by entity and key, as events name it.
public struct ObjectReference: Sendable, Hashable {
  public var entity: String
  public var key: ObjectKey
  public func `as`<Object: BusinessObject>(
    _ type: Object.Type, in database: FerryDatabase
  ) async throws(FerryError) -> Object? { declaration() }
}

public struct ObjectKey: Sendable, Hashable {}
public struct AttributeValue: Sendable, Hashable {}

/// Why the business system refused a change.
public struct Refusal: Sendable {
  public var code: Int
  public var message: String
  public var attribute: String?
  /// Set if somebody else changed the same attribute.
  public var conflict: Conflict?
}

public struct Conflict: Sendable {
  public var attribute: String
  public var mine: AttributeValue
  public var theirs: AttributeValue
}

public enum Outcome<Object: Sendable>: Sendable {
  case accepted(Object?), refused(Refusal), unknown, stillWaiting
}

/// Whether a change is sent when it is saved.
public enum Submitting: Sendable { case now, later }

/// A generated type.
public protocol BusinessObject: Sendable, Identifiable where ID == ObjectIdentity {
  static var entityName: String { get }
  var id: ObjectIdentity { get }
}

public struct ObjectIdentity: Sendable, Hashable {
  public init() {}
}

extension BusinessObject {
  // These do not block. They do not mutate, so that views and actors can call them on their state.
  @discardableResult public func save(
    _ submitting: Submitting = .now
  ) async throws(FerryError) -> Self { declaration() }
  @discardableResult public func submit() async throws(FerryError) -> Self { declaration() }
  public func delete(_ submitting: Submitting = .now) async throws(FerryError) { declaration() }
  /// Withdraws the pending change, and returns the object as the business system has it.
  @discardableResult public func cancel() async throws(FerryError) -> Self? { declaration() }
  public func outcome(within limit: Duration) async throws(FerryError) -> Outcome<Self> {
    declaration()
  }
  public func refusal() async throws(FerryError) -> Refusal? { declaration() }

  // For transactions, which run on Ferry's writer.
  public mutating func save() throws(FerryError) { declaration() }
  public mutating func delete() throws(FerryError) { declaration() }

  public static func find(
    _ condition: Condition<Self>? = nil, orderBy: [Order<Self>] = [], take: Int? = nil,
    in database: FerryDatabase
  ) async throws(FerryError) -> [Self] { declaration() }

  /// The result now, and again after each change that affects it.
  public static func live(
    _ condition: Condition<Self>? = nil, orderBy: [Order<Self>] = [], in database: FerryDatabase
  ) -> LiveQuery<Self> { declaration() }
}

public struct LiveQuery<Object: BusinessObject>: AsyncSequence, Sendable {
  public struct AsyncIterator: AsyncIteratorProtocol {
    public mutating func next() async throws -> [Object]? { declaration() }
  }
  public func makeAsyncIterator() -> AsyncIterator { declaration() }
}

public struct Condition<Object>: Sendable {}
public struct Order<Object>: Sendable {
  public static func ascending<Value>(_ attribute: AttributeOf<Object, Value>) -> Order {
    declaration()
  }
}
public struct AttributeOf<Object, Value>: Sendable {
  public init() {}
  public static func == (left: AttributeOf, right: Value) -> Condition<Object> { declaration() }
}

/// What an app can switch over; code, message and hint come with each case.
public enum FerryError: Error, Sendable {
  case notSignedIn(Details), offline(Details), diskFull(Details), pendingChanges(Details)
  case invalidValue(attribute: String, Details), timedOut(Details), other(Details)

  public struct Details: Sendable {
    public var code: String
    public var message: String
    public var hint: String
  }
}

/// For tests and previews: the product FerryTestKit.
extension FerryDatabase {
  public static func preview(_ objects: (FerryDatabase) -> [any BusinessObject]) -> FerryDatabase {
    declaration()
  }
}

public func declaration() -> Never { fatalError("declarations only, see Decision 0046") }
