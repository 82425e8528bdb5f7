import FerryHTTP
import FerryJSON
import FerryModel

/// Reads a mapping and says where it is wrong.
struct MappingReader {
  typealias Fault = RESTMappingFault
  let package: Package

  private static let top = [
    "service", "headers", "credential", "requestsPerSecond", "lateSeconds", "refusals", "results",
    "absentWithoutDocument", "paging", "pageRows", "rows", "condition", "entities",
  ]

  func read(_ text: [UInt8]) throws(Fault) -> RESTMapping {
    let node: JSONNode
    do throws(JSONError) { node = try JSONNode.parse(text, nodeLimit: 200_000) } catch {
      throw Fault(
        place: "byte \(error.offset)", problem: "the mapping is no JSON: \(error.problem)",
        cure: "Correct it there.")
    }
    let root = MappingNode(node: node, place: "")
    let members = try root.members(MappingReader.top)
    var shared = Shared()
    if let given = members["paging"] { shared.paging = try paging(given) }
    if let given = members["pageRows"] { shared.pageRows = Int(try given.number(1...100_000)) }
    if let given = members["rows"] { shared.rows = try given.path() }
    if let given = members["condition"] { shared.condition = try condition(given) }
    guard let entities = members["entities"] else {
      throw root.fault(
        "\"entities\" is missing", "Write one member for each entity that the service has.")
    }
    var forms: [String: RESTMapping.Form] = [:]
    for (name, given) in try entities.members([]).sorted(by: { $0.key < $1.key }) {
      guard let entity = package.entity(named: name) else {
        throw given.fault(
          "the model has no entity \(name)",
          "It has: \(package.entities.map(\.name).joined(separator: ", ")).")
      }
      forms[name] = try FormReader(entity: entity.served, shared: shared, reader: self).read(given)
    }
    return RESTMapping(
      headers: try members["headers"].map { given throws(Fault) in try given.headers() }
        ?? HTTPHeaders(),
      credential: try members["credential"].map { given throws(Fault) in
        try RESTCredential(given)
      },
      perSecond: try members["requestsPerSecond"].map { given throws(Fault) in
        Int(try given.number(1...10_000))
      },
      late: .seconds(
        try members["lateSeconds"].map { given throws(Fault) in try given.number(0...86_400) }
          ?? 120),
      refusals: try refusals(members["refusals"]),
      rules: try RuleReader.rules(members["results"]),
      believesEmptyAbsence: try members["absentWithoutDocument"].map { given throws(Fault) in
        try given.boolean()
      } ?? false, forms: forms, service: try members["service"].map(MappingReader.service))
  }

  /// What counts for each entity that says nothing of its own.
  struct Shared {
    var paging: RESTMapping.Paging = .none
    var pageRows: Int = 500
    var rows: JSONPath = .whole
    var condition: RESTMapping.Condition = .etag(nil)
  }

  private static func service(_ given: MappingNode) throws(Fault) -> String {
    let text = try given.string()
    guard HTTPAddress(text) != nil, !text.contains("@"), !text.contains("?"), !text.contains("#")
    else {
      throw given.fault(
        "is no address of a service, or has a password",
        "Write https://host/path; credentials are in \"credential\".")
    }
    return text
  }

  func paging(_ given: MappingNode) throws(Fault) -> RESTMapping.Paging {
    if let word = given.node.string {
      switch word {
      case "none": return .none
      case "link": return .link
      default:
        throw given.fault(
          "\"\(word)\" is no way of paging",
          "Write \"none\", \"link\", or an object with next, offset, page or cursor.")
      }
    }
    let members = try given.members([
      "next", "offset", "limit", "page", "size", "first", "cursor", "at",
    ])
    func text(_ name: String) throws(Fault) -> String? {
      try members[name].map { given throws(Fault) in try parameter(given) }
    }
    let ways = ["next", "offset", "page", "cursor"].filter { members[$0] != nil }
    guard ways.count == 1 else {
      throw given.fault(
        "names \(ways.count) ways of paging", "Write one of: next, offset, page, cursor.")
    }
    if let next = members["next"] { return .next(try next.path()) }
    if let offset = try text("offset") { return .offset(offset, limit: try text("limit")) }
    if let page = try text("page") {
      let first = try members["first"].map { given throws(Fault) in try given.number(0...1) } ?? 1
      return .page(page, size: try text("size"), first: Int(first))
    }
    guard let at = members["at"], let cursor = try text("cursor") else {
      throw given.fault(
        "\"at\" is missing", "Write the path at which an answer has the next cursor.")
    }
    return .cursor(cursor, at: try at.path())
  }

  private func parameter(_ given: MappingNode) throws(Fault) -> String {
    let name = try given.string()
    guard !name.isEmpty, PercentEncoding.encode(name, keeping: "[]$") == name else {
      throw given.fault("is no name of a parameter", "Write it as in the service's addresses.")
    }
    return name
  }

  func condition(_ given: MappingNode) throws(Fault) -> RESTMapping.Condition {
    if let word = given.node.string {
      switch word {
      case "etag": return .etag(nil)
      case "unmodifiedSince": return .unmodifiedSince
      case "test": return .test
      case "none": return .none
      default:
        throw given.fault(
          "\"\(word)\" is no condition",
          "Write \"etag\", \"unmodifiedSince\", \"test\", \"none\", {\"etag\": path} or "
            + "{\"version\": path}.")
      }
    }
    let members = try given.members(["etag", "version"])
    if let etag = members["etag"] { return .etag(try etag.path()) }
    guard let version = members["version"] else {
      throw given.fault("names nothing", "Write {\"etag\": path} or {\"version\": path}.")
    }
    return .version(try version.path())
  }

  private func refusals(_ given: MappingNode?) throws(Fault) -> RESTMapping.Refusals {
    let members = try given?.members(["message", "code", "attribute"]) ?? [:]
    var messages: [JSONPath] = []
    if let message = members["message"] {
      if let list = message.node.array {
        for (place, one) in list.enumerated() {
          messages.append(
            try MappingNode(node: one, place: "\(message.place)/\(place)").path())
        }
      } else {
        messages = [try message.path()]
      }
    }
    return RESTMapping.Refusals(
      message: messages,
      code: try members["code"].map { given throws(Fault) in try given.path() },
      attribute: try members["attribute"].map { given throws(Fault) in try given.path() })
  }
}

extension RESTMapping {
  /// Reads the text of a mapping for a model.
  public init(_ text: [UInt8], for package: Package) throws(RESTMappingFault) {
    self = try MappingReader(package: package).read(text)
  }
}
