import FerryConnector
import FerryJSON
import FerryModel

extension CachePolicies {
  /// What the file of a package's policies is called, beside the model.
  package static func fileName(of package: Package) -> String { "\(package.name).policies.json" }

  /// Reads a file of policies for a package. `zone`: the time zone of a name; nil where there is none.
  package init(
    _ text: [UInt8], for package: Package, zone: @escaping (String) -> ZoneClock?
  ) throws(PolicyFault) {
    self = try PolicyReader(package: package.served, zone: zone).read(text)
  }
}

/// Reads a file of policies and says where it is wrong.
struct PolicyReader {
  let package: Package
  let zone: (String) -> ZoneClock?

  func read(_ text: [UInt8]) throws(PolicyFault) -> CachePolicies {
    let node: JSONNode
    do throws(JSONError) { node = try JSONNode.parse(text, nodeLimit: 100_000) } catch {
      throw PolicyFault(
        place: "byte \(error.offset)", problem: "the file is no JSON: \(error.problem)",
        cure: "Correct it there.")
    }
    let members = try PolicyNode(node: node, place: "").members([
      "groups", "conflicts", "operations",
    ])
    var groups: [CacheGroup] = []
    var owners: [String: String] = [:]
    for (name, given) in try (members["groups"]?.members([]) ?? [:]).sorted(by: { $0.key < $1.key })
    {
      let group = try self.group(name, given, &owners)
      groups.append(group)
    }
    var conflicts: [String: ConflictPolicy] = [:]
    let given = try members["conflicts"]?.members([]) ?? [:]
    for (name, policy) in given.sorted(by: { $0.key < $1.key }) {
      conflicts[name] = try conflict(of: name, policy)
    }
    var operations: [String: OperationPolicies] = [:]
    let named = try members["operations"]?.members([]) ?? [:]
    for (name, policy) in named.sorted(by: { $0.key < $1.key }) {
      operations[name] = try operationPolicies(of: name, policy, owners)
    }
    return CachePolicies(groups: groups, conflicts: conflicts, operations: operations)
  }

  private func operationPolicies(
    of name: String, _ given: PolicyNode, _ owners: [String: String]
  ) throws(PolicyFault) -> OperationPolicies {
    guard let entity = package.entity(named: name), !entity.isOperation else {
      throw given.fault("is no entity of the model with rows", "Write the name of one.")
    }
    let isInGroup = owners[name] != nil
    if given.node.string != nil {
      return OperationPolicies(try operationPolicy(of: name, given, isInGroup: isInGroup))
    }
    var kinds: [OperationKind: OperationPolicy] = [:]
    let named = try given.members(OperationKind.allCases.map(\.rawValue))
    for (word, given) in named.sorted(by: { $0.key < $1.key }) {
      guard let kind = OperationKind(rawValue: word), entity.operations.contains(kind) else {
        throw given.fault(
          "is an operation that the model does not let devices do",
          "Leave it out, or add it to the operations of \(name) in the model.")
      }
      kinds[kind] = try operationPolicy(of: name, given, isInGroup: isInGroup)
    }
    return OperationPolicies(.result, kinds: kinds)
  }

  private func operationPolicy(
    of name: String, _ given: PolicyNode, isInGroup: Bool
  ) throws(PolicyFault) -> OperationPolicy {
    let word = try given.string()
    guard let policy = OperationPolicy(rawValue: word) else {
      throw given.fault(
        "\"\(word)\" is not known",
        "Write one of: \(OperationPolicy.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    switch policy {
    case .invalidate where !isInGroup:
      throw given.fault(
        "is \"invalidate\", and \(name) is in no cache group",
        "Put it into a group; entities of no group are followed anyway.")
    case .none where !isInGroup:
      throw given.fault(
        "is \"none\", and \(name) is in no cache group: nobody would read the row again",
        "Put it into a group, or write \"result\".")
    case .result, .parameters, .invalidate, .none: return policy
    }
  }

  private func conflict(
    of name: String, _ given: PolicyNode
  ) throws(PolicyFault) -> ConflictPolicy {
    guard let entity = package.entity(named: name), !entity.isOperation else {
      throw given.fault("is no entity of the model with rows", "Write the name of one.")
    }
    if given.node.string != nil { return ConflictPolicy(try rule(given)) }
    let members = try given.members(["default", "attributes"])
    let standard = try members["default"].map { given throws(PolicyFault) in try rule(given) }
    var attributes: [String: ConflictRule] = [:]
    for (attribute, given) in try members["attributes"]?.members([]) ?? [:] {
      guard let position = entity.position(of: attribute), !entity.key.contains(position) else {
        throw given.fault(
          "is no attribute of \(name) that can change", "Write the name of one, and not of the key."
        )
      }
      attributes[attribute] = try rule(given)
    }
    return ConflictPolicy(standard ?? .refuse, attributes: attributes)
  }

  private func rule(_ given: PolicyNode) throws(PolicyFault) -> ConflictRule {
    let word = try given.string()
    if let rule = ConflictRule(rawValue: word) { return rule }
    throw given.fault(
      "\"\(word)\" is not known",
      "Write one of: \(ConflictRule.allCases.map(\.rawValue).joined(separator: ", ")).")
  }

  private static let known = [
    "entities", "refresh", "interval", "every", "at", "days", "zone", "wait",
  ]

  private func group(
    _ name: String, _ given: PolicyNode, _ owners: inout [String: String]
  ) throws(PolicyFault) -> CacheGroup {
    guard !name.isEmpty, name.utf8.count <= 64,
      name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x22 })
    else {
      throw given.fault(
        "is no name of a group", "Write at most 64 letters, digits, hyphens and dots.")
    }
    let members = try given.members(PolicyReader.known)
    guard let entities = members["entities"] else {
      throw given.fault("has no \"entities\"", "List the entities that are read together.")
    }
    var names: [String] = []
    for entity in try entities.strings() {
      names.append(try self.entity(entity, of: name, &owners))
    }
    guard let refresh = members["refresh"] else {
      throw given.fault(
        "has no \"refresh\"", "Write \"onDemand\", \"scheduled\" or \"notice\".")
    }
    return CacheGroup(
      name: name, entities: names, refresh: try self.refresh(refresh, members),
      wait: try members["wait"].map { wait throws(PolicyFault) in
        try wait.duration(1...600)
      } ?? .seconds(60))
  }

  private func entity(
    _ given: PolicyNode, of group: String, _ owners: inout [String: String]
  ) throws(PolicyFault) -> String {
    let name = try given.string()
    guard let entity = package.entity(named: name), !entity.isOperation else {
      let all = package.entities.filter { !$0.isOperation }.map(\.name)
      throw given.fault(
        "names \(name), and the model has no such entity with rows",
        "It has: \(all.joined(separator: ", ")).")
    }
    if let owner = owners[name] {
      throw given.fault(
        "names \(name), which is in the group \(owner) already", "Leave it out of one of them.")
    }
    owners[name] = group
    return name
  }

  private func refresh(
    _ given: PolicyNode, _ members: [String: PolicyNode]
  ) throws(PolicyFault) -> CacheGroup.Refresh {
    let word = try given.string()
    func refuse(_ names: [String]) throws(PolicyFault) {
      for name in names {
        guard let member = members[name] else { continue }
        throw member.fault(
          "contradicts \"refresh\": \"\(word)\"", "Leave it out, or write another \"refresh\".")
      }
    }
    switch word {
    case "onDemand":
      try refuse(["every", "at", "days", "zone"])
      guard let interval = members["interval"] else {
        throw given.fault(
          "needs \"interval\"",
          "Say how old rows may be, such as \"10 s\"; \"0 s\" reads them each time.")
      }
      return .onDemand(interval: try interval.duration(0...31_536_000))
    case "scheduled":
      try refuse(["interval"])
      if let every = members["every"] {
        guard members["at"] == nil else {
          throw every.fault("and \"at\" contradict each other", "Leave one of them out.")
        }
        try refuse(["days", "zone"])
        return .every(try every.duration(1...31_536_000))
      }
      return .scheduled(try schedule(given, members))
    case "notice":
      try refuse(["interval", "every", "at", "days", "zone", "wait"])
      return .notice
    default:
      throw given.fault(
        "\"\(word)\" is not known", "Write \"onDemand\", \"scheduled\" or \"notice\".")
    }
  }

  private static let weekdays = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  private func schedule(
    _ given: PolicyNode, _ members: [String: PolicyNode]
  ) throws(PolicyFault) -> Schedule {
    guard let at = members["at"] else {
      throw given.fault(
        "needs \"at\" or \"every\"", "Write \"at\": [\"06:00\"], or \"every\": \"1 h\".")
    }
    var times: [Int64] = []
    for time in try at.strings() { times.append(try time.timeOfDay()) }
    var days = Schedule.everyDay
    if let list = members["days"] {
      days = []
      for day in try list.strings() {
        let word = try day.string()
        guard let index = PolicyReader.weekdays.firstIndex(of: word) else {
          throw day.fault(
            "\"\(word)\" is no day of the week",
            "Write one of: \(PolicyReader.weekdays.joined(separator: ", ")).")
        }
        days.insert(Int64(index) + 1)
      }
    }
    guard let named = members["zone"] else { return Schedule(times: times, days: days) }
    let name = try named.string()
    guard let zone = zone(name) else {
      throw named.fault(
        "\"\(name)\" is no time zone of this machine", "Write a name such as Europe/Zurich.")
    }
    return Schedule(times: times, days: days, zone: zone)
  }
}
