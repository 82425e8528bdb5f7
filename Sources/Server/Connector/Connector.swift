import FerryModel
import FerryWorld

/// What a business system must offer to take part.
///
/// A connector blocks and is not Sendable: each thread makes its own instance (one replays, one loads,
/// one gives big values, and one asks for changes where `looksApart`), and instances are cheap. They
/// share the business system; what else they share is the connector's own matter.
/// Every value it gives is canonical for its attribute (`AttributeType.canonical`).
public protocol Connector: AnyObject {
  /// Compares the model with the business system; empty when they fit.
  func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch]

  /// What the connector promises for an entity. It may ask the business system to know it, and
  /// promises the least where that cannot be asked.
  func abilities(of entity: Entity) -> ConnectorAbilities

  /// Performs the operations of one group in order.
  ///
  /// A connector with transactions performs all or none: a refusal leaves `notTried` for all
  /// others, earlier ones too. One without stops at the first refusal and answers `notTried` for
  /// the rest. Where the business system remembers operations, one performed before is answered
  /// as it was then and not performed again.
  ///
  /// A connector without transactions also stops at the first operation whose outcome is `unknown`,
  /// or that could not be done at present, and answers `notTried` for what it did not do. What was
  /// accepted before stays accepted. `notTried` without any refusal in the group means "not yet": the
  /// server asks `recall` about what is unknown, and performs the others later.
  func perform(_ group: [ConnectorOperation]) -> PerformResult

  /// Performs groups one after the other, each accepted or refused by itself as by `perform`, and
  /// gives what became of them in their order: of the first at least, of others as long as
  /// `goesOn`, which is asked between two.
  ///
  /// A business system that can may commit them together, so that each waits for its disk once.
  /// What is given as done is there for good; where the common commit failed none of them is.
  func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult]

  /// From here on this instance performs for the store of this name, and earlier ones for the same
  /// store do nothing more: what they began has ended before this one recalls or performs. To be
  /// called once, before anything else. A connector whose business system cannot keep it apart
  /// need not have it.
  func lead(_ store: String)

  /// Takes over now, where it was not done yet; with `again` also where another one has taken over
  /// since. True where this call did it: whoever shares a store then asks the store whether it still
  /// leads there, before it performs anything. A connector need not have it.
  func takeLead(again: Bool) throws(ConnectorError) -> Bool

  /// What became of operations that may have been performed, each as it was sent, in their order: all
  /// of one group, or those of it whose outcome is not known. Throws where the business system cannot
  /// be asked at present (transient: it is asked again), or never can (a person decides then).
  func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall]

  /// The rows as they are now, in the order of `keys`; nil values where there is none. One that
  /// does not fit the model says why in `rejected`, here and among the touched rows of `perform`.
  func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage]

  /// Reads the rows of a scope, from one snapshot where the business system has such a thing.
  ///
  /// `place`: where an earlier load of the same scope was interrupted, by the last page that was kept;
  /// nil for the beginning. A place that is of no use any more is an error that is not transient: the
  /// load then begins anew. `each` gets the rows in pages. Rows that do not fit the model go to
  /// `rejected` before their page does, and the load goes on. What is thrown by `each` ends it.
  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd

  /// The next rows of an entity in the order of its keys, as the business system orders them: at most
  /// `count` of its rows behind `place`, from the first one on where that is nil. Rows that do not fit
  /// the model are left out. nil where the business system has no such order; a comparison then loads
  /// everything. A connector need not have it.
  func slice(
    of entity: Entity, after place: [AttributeValue]?, count: Int
  ) throws(ConnectorError) -> EntitySlice?

  /// About how many rows a load of these will give, for who waits for it; nil where that cannot be
  /// said at once. A connector need not have it.
  func rowCount(_ entities: [Entity]) throws(ConnectorError) -> Int?

  /// At most `count` bytes of a big value from `offset` on, as it is now; empty behind its end, nil
  /// where the row is gone or the value null. A connector whose models have none need not have it.
  func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]?

  /// Whether anyone but this connector's own `perform` may have changed the business system since
  /// this was last asked. True the first time. Asking forgets: whoever gets true owes a load.
  func changedByOthers() throws(ConnectorError) -> Bool

  /// From now on `changes(since:)` need not look at other entities than these, by their names. A
  /// connector to which a look at an entity costs nothing need not have it.
  func follow(_ entities: Set<String>)

  /// What others may have changed since the cursor; `nil` and a cursor that is of no use any more
  /// give `anything`. What is committed later than the new cursor is told next time. A connector
  /// without cursors need not have it.
  func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges

  /// Whether the business system could not be reached when it was last asked for something. Nothing
  /// is asked of it then but an attempt now and then. False if not said.
  var isUnreachable: Bool { get }

  /// Whether `changes(since:)` is asked of an instance of its own, on a thread of its own, so that
  /// replay does not wait for the answer. What `perform` of another instance did may then be reported
  /// as a change of others; it costs a reading. False if not said: it is asked between two calls of
  /// `perform`, of the instance that performs and so knows its own changes.
  var looksApart: Bool { get }

  /// How long to wait between two questions for changes; 250 ms if not said.
  var lookInterval: Duration { get }
}

/// A pending operation as a connector gets it.
public struct ConnectorOperation: Sendable, Equatable {
  public let id: OperationID
  public let entity: Entity
  public let kind: OperationKind
  /// The business key of the object; nil for a create whose key the business system makes.
  public let key: ObjectKey?
  /// New values by position in `entity.attributes`.
  public let changed: [Int: AttributeValue]
  /// The values the change was based on, by position: of each changed attribute for an update, of
  /// all attributes for a delete. Where the business system's differ the operation is refused
  /// with 412.
  public let base: [Int: AttributeValue]
  /// For a create whose key the business system makes: the key that later operations of the same
  /// group use for the object. A connector puts the given key in its place (`GivenKeys`).
  public let temporaryKey: ObjectKey?
  /// What the big values among `changed` refer to, by position; whole and verified.
  public let contents: [Int: ConnectorContent]
  /// Asked about the row before and after; nil where the model gives every row to everybody.
  public let judge: RowJudge?
  /// Who made the change, for the business system's own rules; nil where nobody is known.
  public let user: String?
  /// The trace of the request that brought it, 32 hexadecimal digits; nil where the app did not trace.
  /// A connector gives it to the business system if that has a place for it.
  public var traceID: String?
  /// When it was first handed to a connector, by the time of day; nil where nobody knows. After a
  /// restart it says how old the number of a request is.
  public var sentAt: Timestamp?
  /// What happens where somebody else has changed the same attributes; nil: the change is refused.
  public var conflictRules: ConflictRules?
  /// Takes what the business system says of it if it is accepted.
  public var resultNotes: ResultNotes = ResultNotes()
  /// What becomes of the server's copy of its row. Where that does not need the row, a connector does
  /// not read it only to give it.
  public var policy: OperationPolicy = .result

  public init(
    id: OperationID, entity: Entity, kind: OperationKind, key: ObjectKey?,
    changed: [Int: AttributeValue],
    base: [Int: AttributeValue], temporaryKey: ObjectKey? = nil,
    contents: [Int: ConnectorContent] = [:],
    judge: RowJudge? = nil, user: String? = nil, sentAt: Timestamp? = nil
  ) {
    self.sentAt = sentAt
    self.id = id
    self.entity = entity
    self.kind = kind
    self.key = key
    self.changed = changed
    self.base = base
    self.temporaryKey = temporaryKey
    self.contents = contents
    self.judge = judge
    self.user = user
  }
}

/// What a connector answers when it was asked to perform operations.
public enum PerformResult: Sendable, Equatable {
  /// One outcome per operation; and the rows of the accepted ones together with every other row
  /// that the business system changed on the way, by its own rules too, each once and as it was
  /// when the change was committed. Of an operation performed before, only its own row. A row
  /// whose key changed is given twice: nil values under the old key.
  case done([OperationOutcome], touched: [RowImage])
  /// Nothing was done, for certain; the same may be tried again.
  case notDone(reason: String)
  /// It may have been done; only `recall` or a person can tell.
  case unknown(reason: String)
  /// Nothing was done and nothing is refused: the group waits until there is what it needs.
  case waits(for: AwaitedThing)
}

/// How one operation ended.
public enum OperationOutcome: Sendable, Equatable {
  /// `key` is the object's business key afterwards; for a create, the one it was given.
  ///
  /// `isRepeated`: `perform` was asked for it a second time, and it was performed the first time.
  /// Others may have changed its row since, so the row does not show what the operation wrote.
  case accepted(key: ObjectKey, isRepeated: Bool = false)
  case refused(Refusal)
  case notTried
  /// It alone may have been done; only `recall` or a person can find out. `reason` is one sentence for
  /// the user.
  case unknown(reason: String)
}

/// A row of an entity at some moment; `values` is nil when there was none with this key, or one that
/// does not fit the model.
public struct RowImage: Sendable, Equatable {
  public let entity: String
  public let key: ObjectKey
  public let values: [AttributeValue]?
  /// Why the model cannot take the row that is there; nil where it can, or there is no row.
  public let rejected: RejectedRow?

  public init(entity: String, key: ObjectKey, values: [AttributeValue]?) {
    self.entity = entity
    self.key = key
    self.values = values
    rejected = nil
  }

  /// A row that is there and does not fit.
  public init(_ rejected: RejectedRow, key: ObjectKey) {
    entity = rejected.entity
    self.key = key
    values = nil
    self.rejected = RejectedRow(
      entity: rejected.entity, key: key.text, attribute: rejected.attribute,
      reason: rejected.reason)
  }
}

/// Some rows of an entity, and where the next ones begin.
public struct EntitySlice: Sendable, Equatable {
  public let rows: [RowImage]
  /// To be given with the next question, opaque to all but the connector; nil behind the last row.
  public let next: [AttributeValue]?

  public init(rows: [RowImage], next: [AttributeValue]?) {
    self.rows = rows
    self.next = next
  }
}

/// One way in which a model does not fit the business system.
public struct Mismatch: Sendable, Equatable, CustomStringConvertible {
  public let place: String
  public let problem: String
  public let cure: String

  public init(place: String, problem: String, cure: String) {
    self.place = place
    self.problem = problem
    self.cure = cure
  }

  public var description: String { "\(place): \(problem). \(cure)" }
}

/// The business system could not be asked. Nothing was done.
public struct ConnectorError: Error, Sendable, Equatable, CustomStringConvertible {
  public let message: String
  /// What the operator can do.
  public let hint: String
  /// Whether the same may succeed later without anyone doing anything.
  public let isTransient: Bool

  public init(_ message: String, hint: String, isTransient: Bool) {
    self.message = message
    self.hint = hint
    self.isTransient = isTransient
  }

  public var description: String { "\(message). \(hint)" }
}

extension Connector {
  public func lead(_ store: String) {}
  public func takeLead(again: Bool) throws(ConnectorError) -> Bool { false }

  public func follow(_ entities: Set<String>) {}

  public var isUnreachable: Bool { false }

  public func slice(
    of entity: Entity, after place: [AttributeValue]?, count: Int
  ) throws(ConnectorError) -> EntitySlice? { nil }

  public func rowCount(_ entities: [Entity]) throws(ConnectorError) -> Int? { nil }

  public var looksApart: Bool { false }

  /// One group, and no more: a business system that commits each by itself gains nothing.
  public func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult] { groups.prefix(1).map { perform($0) } }
}
