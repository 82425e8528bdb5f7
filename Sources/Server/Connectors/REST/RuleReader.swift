import FerryJSON
import FerryModel

/// Reads the rules of a mapping about answers, and says where one cannot have the effect that it names.
enum RuleReader {
  typealias Fault = RESTMappingFault
  private typealias Rule = RESTMapping.Rule

  /// `kinds`: what devices may do with the entity whose rules they are; nil for those of all entities.
  static func rules(
    _ given: MappingNode?, kinds: Set<OperationKind>? = nil
  ) throws(Fault) -> [RESTMapping.Rule] {
    guard let given else { return [] }
    guard let list = given.node.array else {
      throw given.fault("is no list", "Write [ … ] with one object for each rule.")
    }
    var rules: [Rule] = []
    for (place, one) in list.enumerated() {
      let node = MappingNode(node: one, place: "\(given.place)/\(place)")
      let rule = try rule(node, kinds)
      if let earlier = rules.firstIndex(where: { hides($0, rule) }) {
        throw node.fault(
          "is never used: \(given.place)/\(earlier) takes all of its answers",
          "Put it before that one, or leave it out.")
      }
      rules.append(rule)
    }
    return rules
  }

  private static func rule(
    _ given: MappingNode, _ kinds: Set<OperationKind>?
  ) throws(Fault) -> Rule {
    let members = try given.members(
      ["for", "status", "header", "at", "is", "means", "code", "textAt", "text"])
    guard let means = members["means"] else {
      throw given.fault("\"means\" is missing", "Write what such an answer means.")
    }
    let rule = Rule(
      kinds: try members["for"].map { given throws(Fault) in try named(given, kinds) },
      status: try members["status"].map { given throws(Fault) in try status(given) },
      header: try members["header"].map { given throws(Fault) in try given.headerName() },
      at: try members["at"].map { given throws(Fault) in try given.path() },
      values: try members["is"].map { given throws(Fault) in try values(given) },
      meaning: try means.word(Rule.Meaning.self),
      code: try members["code"].map { given throws(Fault) in Int(try given.number(400...599)) },
      textAt: try members["textAt"].map { given throws(Fault) in try given.path() },
      text: try members["text"].map { given throws(Fault) in try given.string() })
    if rule.status == nil, rule.header == nil, rule.at == nil {
      throw given.fault(
        "takes every answer", "Write \"status\", \"header\" or \"at\" into the rule.")
    }
    if let at = members["at"], rule.header != nil {
      throw at.fault(
        "is beside \"header\", and a rule looks at one of them",
        "Leave one out, or write two rules.")
    }
    if let values = members["is"], rule.header == nil, rule.at == nil {
      throw values.fault("has nothing to compare", "Write \"header\" or \"at\" beside it.")
    }
    try requireEffect(rule, members)
    return rule
  }

  /// What has no effect is a mistake.
  private static func requireEffect(
    _ rule: Rule, _ members: [String: MappingNode]
  ) throws(Fault) {
    let meaning = rule.meaning
    if let code = members["code"], meaning != .refusal, meaning != .failure {
      throw code.fault(
        "has no effect: \"\(meaning.rawValue)\" gives the app no code",
        "Leave it out, or write \"means\": \"refusal\".")
    }
    guard let text = members["textAt"] ?? members["text"] else { return }
    switch meaning {
    case .warning, .refusal, .failure, .later, .lost: return
    case .success:
      throw text.fault(
        "has no effect: \"success\" shows nothing",
        "Write \"means\": \"warning\" so that the app gets it, or leave it out.")
    case .absent, .changed:
      throw text.fault(
        "has no effect: Ferry has its own words for \"\(meaning.rawValue)\"", "Leave it out.")
    }
  }

  /// Whether the first of two rules takes every answer that the second one would.
  private static func hides(_ first: Rule, _ second: Rule) -> Bool {
    if let kinds = first.kinds {
      guard let others = second.kinds, others.isSubset(of: kinds) else { return false }
    }
    if let status = first.status {
      guard let other = second.status,
        status == other || status.hasSuffix("xx") && status.first == other.first
      else { return false }
    }
    guard first.header == nil || first.header?.lowercased() == second.header?.lowercased(),
      first.at == nil || first.at == second.at
    else { return false }
    guard let values = first.values else { return true }
    return second.values?.isSubset(of: values) ?? false
  }

  private static func named(
    _ given: MappingNode, _ kinds: Set<OperationKind>?
  ) throws(Fault) -> Set<OperationKind> {
    let texts = given.node.array?.map(\.string) ?? [given.node.string]
    var found: Set<OperationKind> = []
    for text in texts {
      guard let text, let kind = OperationKind(rawValue: text) else {
        throw given.fault(
          "names no kind of change", "Write \"create\", \"update\", \"delete\", or a list of them.")
      }
      guard kinds?.contains(kind) ?? true else {
        throw given.fault(
          "names \"\(text)\", which the model does not let devices do",
          "Leave it out, or add it to the operations of the entity in the model.")
      }
      found.insert(kind)
    }
    guard !found.isEmpty else {
      throw given.fault("is empty", "Write \"create\", \"update\" or \"delete\", or leave it out.")
    }
    return found
  }

  private static func values(_ given: MappingNode) throws(Fault) -> Set<String> {
    let texts = given.node.array?.map(\.plainText) ?? [given.node.plainText]
    let found = texts.compactMap { $0 }
    guard !found.isEmpty, found.count == texts.count else {
      throw given.fault(
        "is no plain value", "Write a text, a number, true or false, or a list of them.")
    }
    return Set(found)
  }

  private static func status(_ given: MappingNode) throws(Fault) -> String {
    let text = given.node.integer.map(String.init) ?? given.node.string ?? ""
    let bytes = Array(text.utf8)
    guard bytes.count == 3, (0x31...0x35).contains(bytes[0]),
      text.hasSuffix("xx") || Int(text) != nil
    else { throw given.fault("is no status", "Write a number such as 409, or \"4xx\".") }
    return text
  }
}
