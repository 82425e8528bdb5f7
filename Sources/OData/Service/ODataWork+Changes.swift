import FerryHTTP
import FerryOData
import FerryODataAddress

/// Answers to a delta token: what was changed in a set since a client read it.
extension ODataWork {
  /// Whether the changes of what is asked for can be known from those of its own entities alone.
  func canBeFollowed(_ needs: ODataNeeds) -> Bool {
    call.version >= .v4 && options.expand.isEmpty && options.top == nil && options.skip == nil
      && needs.isEmpty && call.address.path.count == 1
      && options.filter.map { !$0.asksForTime } ?? true
      && !options.aliases.contains { $0.value.asksForTime }
  }

  /// What a delta token belongs to: the set, and which of its entities and properties are wanted.
  var changesName: String {
    var rest = call.address
    rest.options = followed
    rest.service = ""
    return (try? rest.uri(call.version)) ?? call.relative
  }

  private var followed: ODataQueryOptions {
    var rest = options
    rest.skipToken = nil
    rest.deltaToken = nil
    rest.format = nil
    rest.count = nil
    rest.orderBy = []
    return rest
  }

  /// The address at which later changes can be asked for.
  func changesLink(_ mark: String) throws(ODataRefusal) -> String {
    var rest = followed
    rest.deltaToken = mark
    return try address(rest)
  }

  private func address(_ options: ODataQueryOptions) throws(ODataRefusal) -> String {
    var address = call.address
    address.service = call.root
    address.options = options
    do throws(ODataError) { return try address.uri(call.version) } catch {
      throw ODataRefusal(error)
    }
  }

  func changes(
    _ set: EdmEntitySet, since token: String
  ) async throws(ODataRefusal) -> HTTPResponse {
    guard options.top == nil, options.skip == nil, options.skipToken == nil,
      options.orderBy.isEmpty, options.count == nil
    else {
      throw ODataRefusal(
        400, "badToken",
        "A $deltatoken is used without $top, $skip, $skiptoken, $orderby and $count. Follow "
          + "@odata.deltaLink unchanged.", target: "$deltatoken")
    }
    let form = try call.form()
    let found = try await source.changes(
      set, query: changesName, since: token, limit: limits.changedRows)
    switch found {
    case .changed(let keys, let mark):
      let changes = ODataChanges(self, set, keys, condition(options, set), mark: mark)
      return try await feed(ODataRows(changes), set, count: nil, form, isOfChanges: true)
    case .lost(let reason):
      let start = try address(followed)
      var refusal = ODataRefusal(
        410, "deltaTokenGone",
        "Changes since this $deltatoken cannot be given. \(reason) Read all again at \(start) with "
          + "Prefer: odata.track-changes.", target: "$deltatoken")
      refusal.headers["Location"] = start
      throw refusal
    }
  }
}

/// Entities that were changed, some at a time.
struct ODataChanges: Sendable {
  private let work: ODataWork
  private let set: EdmEntitySet
  private let keys: [ODataProperties]
  private let filter: ODataExpression?
  /// The token for what comes later.
  let mark: String
  /// How many are looked up at once.
  var step: Int { work.limits.pageRows }

  init(
    _ work: ODataWork, _ set: EdmEntitySet, _ keys: [ODataProperties], _ filter: ODataExpression?,
    mark: String
  ) {
    self.work = work
    self.set = set
    self.keys = keys
    self.filter = filter
    self.mark = mark
  }

  func part(from start: Int) async throws(ODataRefusal) -> ODataRows.Part {
    let some = Array(keys.dropFirst(start).prefix(step))
    var part = ODataRows.Part(entries: [], isLast: start + some.count >= keys.count)
    guard !some.isEmpty else { return part }
    try work.budget.check("Reading changes")
    let evaluator = work.evaluator
    for (key, entry) in zip(some, try await work.source.entries(set, keys: some)) {
      guard let entry else {
        part.deleted.append(gone(key, "deleted"))
        continue
      }
      do throws(ODataError) {
        if try filter.map({ condition throws(ODataError) in
          try evaluator.holds(condition, for: entry)
        }) ?? true {
          part.entries.append(entry)
        } else {
          part.deleted.append(gone(key, "changed"))
        }
      } catch { throw work.refusal(error) }
      await work.budget.shareThread()
    }
    return part
  }

  private func gone(_ key: ODataProperties, _ reason: String) -> ODataDeletedEntry {
    ODataDeletedEntry(id: work.address(of: key, in: set), reason: reason)
  }
}

extension ODataExpression {
  /// Whether it holds at one time and not at another for the same entity.
  var asksForTime: Bool {
    switch self {
    case .literal, .path: false
    case .call(let function, let arguments):
      function == .now || arguments.contains(where: \.asksForTime)
    case .list(let items), .array(let items), .and(let items), .or(let items):
      items.contains(where: \.asksForTime)
    case .object(let members): members.contains { $0.value.asksForTime }
    case .not(let inner), .negate(let inner): inner.asksForTime
    case .compare(_, let left, let right), .arithmetic(_, let left, let right):
      left.asksForTime || right.asksForTime
    case .cast(let value, _), .isOf(let value, _): value?.asksForTime ?? false
    case .choice(let choices):
      choices.contains { $0.condition.asksForTime || $0.value.asksForTime }
    case .lambda(let lambda): lambda.predicate?.asksForTime ?? false
    }
  }
}
