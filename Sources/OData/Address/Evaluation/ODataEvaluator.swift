import FerryOData

/// Computes conditions and values over entries in memory, for a cache or a service.
///
/// Null is neither true nor false: `and`, `or` and `not` know three values, comparisons by size
/// with null are false, `null eq null` is true, arithmetic and functions of null are null. A
/// property that the entry does not hold counts as null. Whole numbers are computed exactly, with
/// decimals as decimals, with floating-point numbers as those. Texts are compared by code points.
public struct ODataEvaluator: Sendable {
  /// What `now()` is; nil refuses it, for this library reads no clock.
  public var now: EdmDateTimeOffset?
  /// Values of `@name`.
  public var aliases: [ODataNamedValue]
  /// For derived types in `cast` and `isof`.
  public var metadata: EdmMetadata?
  /// Judges `matchesPattern(text, pattern)` in place of the engine of our own, which is nil's.
  ///
  /// Ours follows all ways of a pattern at once: none makes it run for ever, what costs too much is
  /// refused (`limit`), and so are back references, looking around and classes of Unicode
  /// (`notOffered`). A pattern from outside must not be given to an engine that goes back and forth.
  public var matches: (@Sendable (String, String) throws(ODataError) -> Bool)?

  /// Asked now and then while it computes: true ends it with `limit`. For a service that has other
  /// requests too.
  public var isOver: (@Sendable () -> Bool)?

  /// Shared by copies.
  let patterns = PatternCache()

  /// Without a time, `now()` is refused.
  public init(
    metadata: EdmMetadata? = nil, now: EdmDateTimeOffset? = nil, aliases: [ODataNamedValue] = [],
    matches: (@Sendable (String, String) throws(ODataError) -> Bool)? = nil
  ) {
    self.metadata = metadata
    self.now = now
    self.aliases = aliases
    self.matches = matches
  }

  /// Whether a condition holds for an entry; null does not. Throws `evaluation` where a value
  /// cannot be computed, `typeMismatch` where types do not go together, `notOffered` for functions
  /// of the service, `$root` and annotations.
  public func holds(
    _ condition: ODataExpression, for entry: ODataEntry
  ) throws(ODataError) -> Bool {
    let result: Result
    do { result = try run(condition, Scope(entry)) } catch { throw error.error }
    switch result {
    case .value(.boolean(let truth)): return truth
    case .value(.null): return false
    default:
      throw ODataError(.typeMismatch, "the condition is not a truth value", hint: "compare it")
    }
  }

  /// The value of an expression for an entry. Throws as `holds`, and `typeMismatch` where it is an
  /// entity.
  public func value(
    of expression: ODataExpression, for entry: ODataEntry
  ) throws(ODataError) -> EdmValue {
    do { return try plain(run(expression, Scope(entry))) } catch { throw error.error }
  }

  /// The entries that a filter holds for, with what `$compute` adds, sorted, without the skipped
  /// ones, at most `top`; and how many there were before `skip` and `top`.
  ///
  /// Null sorts first. What is selected or expanded stays as it is in the entries. Throws as
  /// `holds`, `typeMismatch` for a sort of values that do not compare, and `notOffered` for
  /// `$search` and for tokens, which only the service knows.
  public func apply(
    _ options: ODataQueryOptions, to entries: [ODataEntry]
  ) throws(ODataError) -> (entries: [ODataEntry], count: Int) {
    var evaluator = self
    evaluator.aliases += options.aliases
    if options.search != nil {
      throw ODataError(
        .notOffered, "$search cannot be evaluated over entries in memory", hint: "ask the service")
    }
    if options.skipToken != nil || options.deltaToken != nil {
      throw ODataError(
        .notOffered, "only the service that gave a $skiptoken or $deltatoken knows what it means",
        hint: "ask the service, or leave the token out")
    }
    var found: [ODataEntry] = []
    for (place, var entry) in entries.enumerated() {
      if place & 15 == 0 { do { try goOn() } catch { throw error.error } }
      for item in options.compute {
        entry[item.name] = try evaluator.value(of: item.expression, for: entry)
      }
      guard let filter = options.filter else {
        found.append(entry)
        continue
      }
      if try evaluator.holds(filter, for: entry) { found.append(entry) }
    }
    if !options.orderBy.isEmpty { found = try evaluator.sorted(found, options.orderBy) }
    let count = found.count
    if let skip = options.skip { found = Array(found.dropFirst(skip)) }
    if let top = options.top { found = Array(found.prefix(top)) }
    return (found, count)
  }

  private func sorted(
    _ entries: [ODataEntry], _ orders: [ODataOrder]
  ) throws(ODataError) -> [ODataEntry] {
    var keyed: [(entry: ODataEntry, keys: [EdmValue], place: Int)] = []
    for (place, entry) in entries.enumerated() {
      if place & 15 == 0 { do { try goOn() } catch { throw error.error } }
      var keys: [EdmValue] = []
      for order in orders { keys.append(try value(of: order.expression, for: entry)) }
      keyed.append((entry, keys, place))
    }
    // Neighbours of the result were compared: where types are mixed, one pair of them throws.
    var refusal: AddressFault?
    var comparisons = 0
    keyed.sort { left, right in
      guard refusal == nil else { return left.place < right.place }
      for (index, order) in orders.enumerated() {
        do throws(AddressFault) {
          comparisons += 1
          if comparisons & 1_023 == 0 { try goOn() }
          let way = try sortOrder(left.keys[index], right.keys[index])
          if way != 0 { return order.isDescending ? way > 0 : way < 0 }
        } catch { refusal = error }
      }
      return left.place < right.place
    }
    if let refusal { throw refusal.error }
    return keyed.map(\.entry)
  }

  /// What a part of an expression is: a value, an entity, or several.
  ///
  /// Kept in a box, for evaluation recurses, and its frames must be small.
  indirect enum Result {
    case value(EdmValue)
    case entity(ODataEntry)
    case entities([ODataEntry])
  }

  /// How many parts are being evaluated inside each other, aliases included.
  final class Depth {
    /// What the parser lets through, and a little for aliases.
    static let limit = 80
    /// Aliases that name each other twice would double the work at each step.
    static let mostAliases = 1_000
    var value = 0
    /// How many parts were evaluated so far.
    var steps = 0
    /// How many aliases were looked up so far.
    var aliases = 0
  }

  /// What names mean where an expression is evaluated.
  final class Scope {
    var entry: ODataEntry
    /// `$it`: the entry that the whole expression is asked of, also inside of filters of its parts.
    let it: ODataEntry
    var this: Result
    var variables: [String: Result] = [:]
    /// Aliases that are being resolved, so that none goes in a circle.
    var resolving: [String] = []
    let depth: Depth

    init(_ entry: ODataEntry) {
      self.entry = entry
      it = entry
      this = .entity(entry)
      depth = Depth()
    }

    private init(_ other: Scope) {
      entry = other.entry
      it = other.it
      this = other.this
      variables = other.variables
      resolving = other.resolving
      depth = other.depth
    }

    /// The same for what stands inside, to be changed.
    func inner() -> Scope { Scope(self) }
  }

  /// Throws where it has computed for long enough.
  func goOn() throws(AddressFault) {
    guard let isOver, isOver() else { return }
    throw AddressFault(.limit, "it takes too long to compute", hint: "ask for less")
  }

  func plain(_ result: Result) throws(AddressFault) -> EdmValue {
    guard case .value(let value) = result else {
      throw AddressFault(
        .typeMismatch, "an entity is not a value", hint: "name one of its properties")
    }
    return value
  }
}
