import FerryOData

/// What is known of a batch across its parts: ids, groups, how many, and what was not as it should
/// be. Readers and writers keep the same books.
struct BatchLedger {
  /// Words after a dollar sign that are addresses of the protocol and no references.
  private static let words: Set<Substring> = [
    "metadata", "batch", "all", "entity", "crossjoin", "root", "count", "value", "ref", "filter",
    "query", "links",
  ]

  let isJSON: Bool
  let limits: ODataLimits
  let isStrict: Bool
  private(set) var diagnostics: EdmDiagnostics
  private(set) var parts = 0
  private var isRequests: Bool?
  /// Requests that stand before, each with its group.
  private var known: [String: String?] = [:]
  private var groups: Set<String> = []
  private var group: String?
  private var idsOfScope: Set<String> = []
  private var idsOutside: Set<String> = []

  init(isJSON: Bool, limits: ODataLimits, isStrict: Bool) {
    self.isJSON = isJSON
    self.limits = limits
    self.isStrict = isStrict
    diagnostics = EdmDiagnostics(limit: limits.diagnostics)
  }

  mutating func report(
    _ message: String, _ place: ODataPlace, _ consequence: String
  ) throws(ODataError) {
    let diagnostic = ODataDiagnostic(message, at: place, consequence: consequence)
    if isStrict { throw ODataError(strict: diagnostic) }
    diagnostics.add(diagnostic)
  }

  /// Enters a part whose head is complete.
  mutating func enter(_ part: ODataBatchPart, at place: ODataPlace) throws(ODataError) {
    parts += 1
    guard parts <= limits.parts else {
      throw ODataError(.limit, "the batch has more than \(limits.parts) parts", at: place)
    }
    if let isRequests, isRequests != part.isRequest {
      throw ODataError(.malformed, "the batch has both requests and responses", at: place)
    }
    isRequests = part.isRequest
    try enterGroup(part, place)
    if let id = part.id { try enterID(id, part, place) }
    guard part.isRequest else { return }
    if let group = part.group, part.dependsOn.contains(group) {
      throw ODataError(
        .reference, "the part depends on its own group \(BatchText.shown(group))", at: place)
    }
    for id in part.dependsOn where known[id] == nil && !groups.contains(id) {
      throw ODataError(
        .reference, "the part depends on \(BatchText.shown(id)), which is not an earlier part",
        at: place)
    }
    if let url = part.url, let id = Self.reference(url), known[id] == nil,
      !Self.words.contains(id[...])
    {
      throw ODataError(
        .reference, "the address refers to \(BatchText.shown(id)), which is not an earlier part",
        at: place)
    }
    if let id = part.id { known.updateValue(part.group, forKey: id) }
    if let group = part.group { groups.insert(group) }
  }

  private mutating func enterGroup(
    _ part: ODataBatchPart, _ place: ODataPlace
  ) throws(ODataError) {
    guard part.group != group else { return }
    if isJSON, let next = part.group, idsOutside.contains(next), part.isRequest {
      throw ODataError(
        .reference, "the group \(BatchText.shown(next)) has the name of a part", at: place)
    }
    if let next = part.group, groups.contains(next), part.isRequest {
      throw ODataError(
        .reference, "the parts of the group \(BatchText.shown(next)) do not follow each other",
        at: place)
    }
    group = part.group
    idsOfScope = []
  }

  /// What a request of JSON must name in `dependsOn` for the sake of its address: the request that
  /// it refers to, and the group of that where it is another.
  func needs(of part: ODataBatchPart) -> [String] {
    guard let url = part.url, let id = Self.reference(url), let group = known[id] else { return [] }
    return [id] + (group == part.group ? [] : [group].compactMap { $0 })
  }

  /// An id is unique in a JSON batch, and within its changeset in a multipart batch.
  private mutating func enterID(
    _ id: String, _ part: ODataBatchPart, _ place: ODataPlace
  ) throws(ODataError) {
    let isNew: Bool
    if isJSON || part.group == nil {
      isNew = idsOutside.insert(id).inserted
    } else {
      isNew = idsOfScope.insert(id).inserted
    }
    let isGroup = isJSON && (groups.contains(id) || id == part.group)
    if isNew, !isGroup { return }
    if part.isRequest {
      throw ODataError(
        .reference,
        "the id \(BatchText.shown(id)) is \(isGroup ? "the name of a group" : "given twice")",
        at: place)
    }
    try report("the id \(BatchText.shown(id)) is given twice", place, "both parts are kept")
  }

  /// The id in an address such as `$1/Orders`; nil for other addresses.
  static func reference(_ url: String) -> String? {
    let path = url.hasPrefix("/$") ? url.dropFirst() : url[...]
    guard path.first == "$" else { return nil }
    let id = path.dropFirst().prefix { $0 != "/" && $0 != "?" && $0 != "(" }
    return id.isEmpty ? nil : String(id)
  }
}
