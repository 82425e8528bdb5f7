import FerryHTTP
import FerryJSON
import FerryModel

/// Reads what a mapping says of one entity.
struct FormReader {
  typealias Fault = RESTMappingFault
  let entity: Entity
  let shared: MappingReader.Shared
  let reader: MappingReader

  private static let known = [
    "list", "read", "create", "update", "delete", "find", "condition", "changedStatus", "memory",
    "changes", "deletes", "fields", "constants", "results",
  ]

  func read(_ given: MappingNode) throws(Fault) -> RESTMapping.Form {
    if entity.isOperation { return try operation(given) }
    let members = try given.members(FormReader.known)
    guard let list = members["list"] else {
      throw given.fault("\"list\" is missing", "Write the address at which the service lists them.")
    }
    let values = try values(members["fields"])
    var form = RESTMapping.Form(
      list: try self.list(list, names: ["limit"]), condition: shared.condition,
      changedStatus: [412, 428], memory: .none, deletes: .comparison, values: values, constants: [])
    form.read = try call(members["read"], .get, .none)
    form.create = try call(members["create"], .post, .whole)
    form.update = try call(members["update"], .patch, .changed)
    form.delete = try call(members["delete"], .delete, .none)
    if let find = members["find"] {
      form.find = try self.list(find, names: attributes + ["marker"])
    }
    if let condition = members["condition"] { form.condition = try reader.condition(condition) }
    if form.condition == .test, form.update?.body != .patch {
      throw (members["condition"] ?? given).fault(
        "\"test\" needs an update with the body \"patch\"",
        "Write \"body\": \"patch\" in \"update\", or another condition.")
    }
    switch form.condition {
    case .version, .test: form.changedStatus.insert(409)
    default: break
    }
    if let changed = members["changedStatus"] { form.changedStatus = try statuses(changed) }
    if let memory = members["memory"] { form.memory = try self.memory(memory, form) }
    if let changes = members["changes"] { form.changes = try self.changes(changes) }
    if let deletes = members["deletes"] { form.deletes = try self.deletes(deletes, form) }
    form.constants = try constants(members["constants"])
    form.rules = try RuleReader.rules(members["results"], kinds: entity.operations)
    try requireWays(form, given)
    return form
  }

  /// An operation of the model has no rows: it is one request.
  private func operation(_ given: MappingNode) throws(Fault) -> RESTMapping.Form {
    let members = try given.members(["perform", "memory", "fields", "constants", "results"])
    guard let perform = try call(members["perform"], .post, .whole) else {
      throw given.fault(
        "\"perform\" is missing", "Write the address to which the operation is sent.")
    }
    // Nothing is ever listed.
    var form = RESTMapping.Form(
      list: RESTMapping.List(address: perform.address), condition: .none, changedStatus: [],
      memory: .none, deletes: .comparison, values: try values(members["fields"]), constants: [])
    form.create = perform
    if let memory = members["memory"] {
      guard memory.node.string != nil || memory.node["header"] != nil else {
        throw memory.fault(
          "an operation has no object that could be found again",
          "Write \"header\", or \"none\".")
      }
      form.memory = try self.memory(memory, form)
    }
    form.constants = try constants(members["constants"])
    form.rules = try RuleReader.rules(members["results"], kinds: entity.operations)
    return form
  }

  private func constants(
    _ given: MappingNode?
  ) throws(Fault) -> [(path: JSONPath, value: JSONDraft)] {
    var constants: [(path: JSONPath, value: JSONDraft)] = []
    for (name, value) in try (given?.members([]) ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard let path = JSONPath(name) else {
        throw value.fault("is no path", "Write a name, or a path such as /kind/name.")
      }
      constants.append((path, JSONDraft(value.node)))
    }
    return constants
  }

  private var attributes: [String] { entity.attributes.map(\.name) }

  /// What the model lets devices do must be possible.
  private func requireWays(_ form: RESTMapping.Form, _ given: MappingNode) throws(Fault) {
    let ways: [(OperationKind, RESTMapping.Call?)] = [
      (.create, form.create), (.update, form.update), (.delete, form.delete),
    ]
    for (kind, call) in ways where entity.operations.contains(kind) && call == nil {
      throw given.fault(
        "\"\(kind.rawValue)\" is missing, and the model lets devices do it",
        "Write its address, or take it from the operations of \(entity.name) in the model.")
    }
    let writes = form.create != nil || form.update != nil || form.delete != nil
    if writes, form.read == nil {
      throw given.fault(
        "\"read\" is missing, and \(entity.name) can be changed",
        "Write the address of one object, such as /items/{id}.")
    }
    for call in [form.read, form.update, form.delete].compactMap({ $0 }) {
      let key = entity.key.map { entity.attributes[$0].name }
      if let missing = key.first(where: { !call.address.names.contains($0) }) {
        throw given.fault(
          "the address \(call.address.text) does not name the key {\(missing)}",
          "An address of one object has each attribute of its key.")
      }
    }
  }

  // MARK: Parts

  private func list(_ given: MappingNode, names: [String]) throws(Fault) -> RESTMapping.List {
    if given.node.string != nil {
      return RESTMapping.List(
        address: try given.template(names), rows: shared.rows, paging: shared.paging,
        pageRows: shared.pageRows)
    }
    let members = try given.members(["address", "rows", "paging", "pageRows", "count"])
    return try list(given, members, names: names)
  }

  private func list(
    _ given: MappingNode, _ members: [String: MappingNode], names: [String]
  ) throws(Fault) -> RESTMapping.List {
    guard let address = members["address"] else {
      throw given.fault("\"address\" is missing", "Write an address such as /items.")
    }
    var list = RESTMapping.List(
      address: try address.template(names), rows: shared.rows, paging: shared.paging,
      pageRows: shared.pageRows)
    if let rows = members["rows"] { list.rows = try rows.path() }
    if let paging = members["paging"] { list.paging = try reader.paging(paging) }
    if let rows = members["pageRows"] { list.pageRows = Int(try rows.number(1...100_000)) }
    if let count = members["count"] { list.count = try count.path() }
    return list
  }

  private func call(
    _ given: MappingNode?, _ method: HTTPMethod, _ body: RESTMapping.Body
  ) throws(Fault) -> RESTMapping.Call? {
    guard let given else { return nil }
    if given.node.string != nil {
      return RESTMapping.Call(
        method: method, address: try given.template(attributes), body: body)
    }
    let members = try given.members(["method", "address", "headers", "body", "bodyAt", "row"])
    guard let address = members["address"] else {
      throw given.fault("\"address\" is missing", "Write an address such as /items/{id}.")
    }
    var call = RESTMapping.Call(
      method: method, address: try address.template(attributes), body: body)
    if let name = members["method"] {
      let text = try name.string().uppercased()
      guard ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(text) else {
        throw name.fault("\"\(text)\" is not used", "Write GET, POST, PUT, PATCH or DELETE.")
      }
      call.method = HTTPMethod(rawValue: text)
    }
    if let headers = members["headers"] { call.headers = try headers.headers() }
    if let body = members["body"] { call.body = try body.word(RESTMapping.Body.self) }
    if let at = members["bodyAt"] { call.bodyAt = try at.path() }
    if let row = members["row"] { call.row = try row.path() }
    return call
  }

  private func statuses(_ given: MappingNode) throws(Fault) -> Set<Int> {
    let numbers = given.node.array?.compactMap(\.integer) ?? []
    guard !numbers.isEmpty, numbers.count == given.node.array?.count,
      numbers.allSatisfy({ (400...499).contains($0) })
    else { throw given.fault("is no list of statuses", "Write a list such as [409, 412].") }
    return Set(numbers.map { Int($0) })
  }

  private func memory(
    _ given: MappingNode, _ form: RESTMapping.Form
  ) throws(Fault) -> RESTMapping.Memory {
    if given.node.string == "none" { return .none }
    let members = try given.members(["header", "hours", "marker", "natural"])
    if let header = members["header"] {
      let hours = try members["hours"].map { given throws(Fault) in try given.number(1...8_784) }
      return .requests(header: try header.headerName(), window: .seconds((hours ?? 24) * 3_600))
    }
    guard form.find != nil else {
      throw given.fault(
        "\"find\" is missing",
        "Write the address at which the service lists objects with that value.")
    }
    if let marker = members["marker"] { return .marker(try marker.path()) }
    guard let names = members["natural"]?.node.array?.compactMap(\.string), !names.isEmpty else {
      throw given.fault("names nothing", "Write \"header\", \"marker\" or \"natural\".")
    }
    var positions: [Int] = []
    for name in names {
      guard let position = entity.position(of: name) else {
        throw given.fault("the model has no attribute \(name)", "Write attributes of the model.")
      }
      positions.append(position)
    }
    return .natural(positions)
  }

  private func changes(_ given: MappingNode) throws(Fault) -> RESTMapping.Changes {
    let members = try given.members(
      ["address", "rows", "paging", "pageRows", "count", "field", "overlapSeconds"])
    guard let field = members["field"] else {
      throw given.fault("\"field\" is missing", "Write the path of the time of the last change.")
    }
    let list = try list(given, members, names: ["since", "limit"])
    guard list.address.names.contains("since") else {
      throw given.fault("the address does not name {since}", "Write /items{?since}, or its like.")
    }
    let overlap = try members["overlapSeconds"].map { given throws(Fault) in
      try given.number(0...86_400)
    }
    return RESTMapping.Changes(list: list, field: try field.path(), overlap: overlap ?? 60)
  }

  private func deletes(
    _ given: MappingNode, _ form: RESTMapping.Form
  ) throws(Fault) -> RESTMapping.Deletes {
    if given.node.string == "comparison" { return .comparison }
    let members = try given.members(["flag", "address", "rows", "paging", "pageRows", "key"])
    if let flag = members["flag"] { return .flag(try flag.path()) }
    guard form.changes != nil else {
      throw given.fault("\"changes\" is missing", "A list of deleted objects is read beside it.")
    }
    let names = members["key"]?.node.array?.compactMap(\.string) ?? []
    let key =
      names.isEmpty ? entity.key.map { form.values[$0].path } : names.compactMap { JSONPath($0) }
    guard key.count == entity.key.count else {
      throw given.fault("\"key\" has not as many paths as the key", "Write one for each attribute.")
    }
    return .list(try list(given, members, names: ["since", "limit"]), key: key)
  }

  // MARK: Values

  private func values(_ given: MappingNode?) throws(Fault) -> [ValueForm] {
    let members = try given?.members([]) ?? [:]
    for (name, field) in members.sorted(by: { $0.key < $1.key })
    where entity.position(of: name) == nil {
      throw field.fault(
        "\(entity.name) has no attribute \(name)",
        "It has: \(attributes.joined(separator: ", ")).")
    }
    var values: [ValueForm] = []
    for attribute in entity.attributes {
      values.append(try value(attribute, members[attribute.name]))
    }
    return values
  }

  private func value(
    _ attribute: Attribute, _ given: MappingNode?
  ) throws(Fault) -> ValueForm {
    let column = JSONPath(attribute.column) ?? JSONPath(steps: [attribute.column])
    let plain: ValueForm.Form = attribute.type == .dateTime ? .utc : .plain
    guard let given else {
      return ValueForm(
        path: column, type: attribute.type, form: plain, words: nil, address: nil,
        isReadOnly: false)
    }
    if given.node.string != nil {
      return ValueForm(
        path: try given.path(), type: attribute.type, form: plain, words: nil, address: nil,
        isReadOnly: false)
    }
    let members = try given.members(["at", "form", "true", "false", "address", "readOnly"])
    var words: (yes: String, no: String)?
    if let yes = members["true"]?.node.plainText, let no = members["false"]?.node.plainText {
      words = (yes, no)
    }
    guard words == nil || attribute.type == .boolean else {
      throw given.fault("\"true\" and \"false\" are for booleans", "Leave them out.")
    }
    var address: (before: String, after: String)?
    if let text = try members["address"]?.string() {
      let parts = text.split(separator: "{value}", omittingEmptySubsequences: false)
      guard parts.count == 2 else {
        throw given.fault("\"address\" has not one {value}", "Write /customers/{value}.")
      }
      address = (String(parts[0]), String(parts[1]))
    }
    return ValueForm(
      path: try members["at"].map { given throws(Fault) in try given.path() } ?? column,
      type: attribute.type,
      form: try members["form"].map { given throws(Fault) in
        try given.word(ValueForm.Form.self)
      } ?? plain, words: words, address: address,
      isReadOnly: try members["readOnly"].map { given throws(Fault) in try given.boolean() }
        ?? false)
  }
}
