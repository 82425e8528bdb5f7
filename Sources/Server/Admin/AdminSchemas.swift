import FerryJSON

/// JSON Schemas of the answers (draft 2020-12). Fields may be added at any time; the number in the path
/// is raised when one changes its meaning.
enum AdminSchemas {
  static func named(_ name: String) -> String? { all[name] }

  static var index: AdminAnswer {
    AdminAnswer { writer in
      writer.key("schemas")
      writer.array(all.keys.sorted()) { $0.string($1) }
    }
  }

  private static func schema(_ title: String, required: [String], _ properties: String) -> String {
    let names = required.map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"\(title)","type":"object",\
      "required":[\(names)],"properties":{\(properties)}}
      """
  }

  private static let text = #"{"type":"string"}"#
  private static let number = #"{"type":"integer"}"#
  private static let flag = #"{"type":"boolean"}"#
  private static let id = #"{"type":"string","pattern":"^[0-9a-f]{32}$"}"#

  private static func list(_ items: String) -> String { #"{"type":"array","items":\#(items)}"# }

  private static let operation = """
    "id":\(id),"number":\(number),"entity":\(text),"kind":{"enum":["create","update","delete"]},\
    "key":{"type":["string","null"]},"user":\(text),"device":\(text),\
    "state":{"enum":["waiting","accepted","refused","notTried","unknown"]},\
    "package":\(text),"code":\(number),"cause":\(text),"time":\(number)
    """

  private static let correction = """
    "id":\(id),"operation":\(id),"verb":{"enum":["retry","release","discard","restore"]},\
    "state":{"enum":["open","taken","kept","absent","invalid","withdrawn"]},"by":\(text),\
    "reason":\(text),"message":\(text),"made":\(number),"ended":{"type":["integer","null"]},\
    "became":\(id),"detail":\(text),"attributes":\(list(text))
    """

  private static let correctionObject = #"{"type":"object","properties":{\#(correction)}}"#

  static let all: [String: String] = [
    "error": schema(
      "error", required: ["code", "message", "hint"],
      "\"code\":\(text),\"message\":\(text),\"hint\":\(text)"),
    "session": schema(
      "session", required: ["name", "role"],
      "\"name\":\(text),\"role\":{\"enum\":[\"viewer\",\"operator\",\"administrator\"]},"
        + "\"csrf\":\(text)"),
    "operations": schema(
      "operations", required: ["operations"],
      "\"operations\":"
        + list(
          #"{"type":"object","required":["id","state","entity","user","device"],"#
            + #""properties":{\#(operation)}}"#) + ",\"next\":\(number)"),
    "operation": schema(
      "operation", required: ["id", "state", "entity", "user", "device", "package", "records"],
      "\(operation),\"valuesShown\":\(flag),\"records\":\(list("{\"type\":\"object\"}")),"
        + "\"attributes\":\(list("{\"type\":\"object\",\"required\":[\"name\",\"type\"]}")),"
        + "\"corrections\":\(list(correctionObject))"),
    "correction": schema(
      "correction", required: ["dryRun", "correction"],
      "\"dryRun\":\(flag),\"correction\":\(correctionObject),\"willDo\":\(text)"),
    "causes": schema(
      "causes", required: ["causes"],
      "\"causes\":"
        + list(
          "{\"type\":\"object\",\"required\":[\"cause\",\"operations\"],\"properties\":"
            + "{\"cause\":\(text),\"operations\":\(number),\"users\":\(number)}}")),
    "devices": schema(
      "devices", required: ["devices", "total"],
      "\"total\":\(number),\"devices\":"
        + list(
          #"{"type":"object","required":["user","device","state","lastSeen"]}"#)
        + ",\"next\":\(number)"),
    "decision": schema(
      "decision", required: ["dryRun", "willDo"],
      "\"dryRun\":\(flag),\"verb\":\(text),\"willDo\":\(text)"),
    "outcomes": schema(
      "outcomes", required: ["operations", "decisions"],
      "\"operations\":"
        + list(
          #"{"type":"object","required":["id","entity","kind","user","device","reason","candidates"]}"#
        )
        + ",\"decisions\":"
        + list(#"{"type":"object","required":["verb","when","willDo"]}"#)),
    "overview": schema(
      "overview", required: ["time", "packages", "operations", "devices"],
      "\"time\":\(number),\"devices\":\(number),\"packages\":\(list("{\"type\":\"object\"}")),"
        + "\"operations\":\(list("{\"type\":\"object\"}"))"),
    "logs": schema(
      "logs", required: ["records"],
      "\"records\":"
        + list(#"{"type":"object","required":["number"]}"#) + ",\"next\":\(number)"),
    "timeline": schema(
      "timeline", required: ["id", "moments"],
      "\"id\":\(id),\"moments\":"
        + list(
          #"{"type":"object","required":["time","from","level","message"],"properties":"#
            + #"{"from":{"enum":["device","server","business","operator"]}}}"#)),
    "audit": schema(
      "audit", required: ["lines"],
      "\"lines\":"
        + list(#"{"type":"object","required":["time","event"]}"#) + ",\"next\":\(number)"),
  ]
}
