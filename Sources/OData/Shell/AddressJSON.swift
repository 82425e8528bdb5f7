import FerryJSON
import FerryOData
import FerryODataAddress

/// Writes what an address says as JSON; Documentation/odata-address.schema.json describes it.
struct AddressJSON {
  let version: ODataVersion
  var writer = JSONWriter()

  init(_ version: ODataVersion) { self.version = version }

  static func refusal(_ error: ODataError) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("error")
    writer.beginObject()
    writer.field("code", error.code.rawValue)
    writer.field("message", error.message)
    writer.field("column", error.place?.column ?? 1)
    writer.field("part", error.place?.path ?? "address")
    writer.field("hint", error.hint)
    writer.endObject()
    writer.endObject()
    return writer.text
  }

  mutating func address(
    _ address: ODataAddress, _ resolved: ODataResolvedAddress?
  ) throws(ODataError) {
    writer.beginObject()
    writer.field("version", version.rawValue)
    writer.field("uri", try address.uri(version))
    writer.field("service", address.service)
    writer.key("path")
    writer.beginArray()
    for (index, segment) in address.path.enumerated() {
      try self.segment(segment, address.columns[index], resolved?.steps[index])
    }
    writer.endArray()
    writer.key("options")
    try options(address.options)
    if let fragment = address.fragment { writer.field("fragment", fragment) }
    if let type = resolved?.type { writer.field("type", "\(type)") }
    writer.endObject()
  }

  private mutating func segment(
    _ segment: ODataSegment, _ column: Int?, _ step: ODataResolvedAddress.Step?
  ) throws(ODataError) {
    writer.beginObject()
    switch segment {
    case .name(let name):
      writer.field("kind", "name")
      writer.field("name", name)
    case .predicate(let predicate):
      writer.field("kind", "predicate")
      switch predicate {
      case .value(let value):
        writer.key("value")
        try expression(value)
      case .named(let values): try named("named", values)
      }
    case .keySegment(let text):
      writer.field("kind", "key-segment")
      writer.field("name", text)
    case .filter(let condition):
      writer.field("kind", "filter")
      writer.key("value")
      try expression(condition)
    case .crossjoin(let sets):
      writer.field("kind", "crossjoin")
      writer.key("sets")
      strings(sets)
    default: writer.field("kind", segment.systemName)
    }
    if let column { writer.field("column", column) }
    if let step {
      writer.field("meaning", step.kind.rawValue)
      if let type = step.type { writer.field("type", "\(type)") }
    }
    writer.endObject()
  }

  mutating func strings(_ values: [String]) {
    writer.array(values) { $0.string($1) }
  }

  mutating func named(
    _ key: String, _ values: [ODataNamedValue]
  ) throws(ODataError) {
    writer.key(key)
    writer.beginArray()
    for value in values {
      writer.beginObject()
      writer.field("name", value.name)
      writer.key("value")
      try expression(value.value)
      writer.endObject()
    }
    writer.endArray()
  }

  mutating func expression(_ value: ODataExpression) throws(ODataError) {
    writer.beginObject()
    switch value {
    case .literal(let literal):
      writer.field("kind", "literal")
      writer.field("type", Self.type(of: literal))
      writer.field("text", literal.text)
    case .path:
      writer.field("kind", "path")
      writer.field("text", try value.text(version))
    case .list(let items): try operands("list", items)
    case .array(let items): try operands("array", items)
    case .object(let members):
      writer.field("kind", "object")
      try named("members", members)
    case .not(let inner): try operands("not", [inner])
    case .negate(let inner): try operands("negate", [inner])
    case .and(let parts): try operands("and", parts)
    case .or(let parts): try operands("or", parts)
    case .compare(let comparison, let left, let right):
      try operands(comparison.rawValue, [left, right])
    case .arithmetic(let operation, let left, let right):
      try operands(operation.rawValue, [left, right])
    case .call(let function, let arguments):
      try operands("call", arguments)
      writer.field("name", function.name(in: version))
    case .cast(let inner, let type):
      try operands("cast", inner.map { [$0] } ?? [])
      writer.field("type", "\(type)")
    case .isOf(let inner, let type):
      try operands("isof", inner.map { [$0] } ?? [])
      writer.field("type", "\(type)")
    case .choice(let choices):
      try operands("case", choices.flatMap { [$0.condition, $0.value] })
    case .lambda(let lambda):
      writer.field("kind", lambda.quantifier.rawValue)
      writer.field("text", try ODataExpression.path(lambda.collection).text(version))
      if let variable = lambda.variable { writer.field("variable", variable) }
      if let predicate = lambda.predicate {
        writer.key("predicate")
        try expression(predicate)
      }
    }
    writer.endObject()
  }

  private mutating func operands(
    _ kind: String, _ parts: [ODataExpression]
  ) throws(ODataError) {
    writer.field("kind", kind)
    writer.key("operands")
    writer.beginArray()
    for part in parts { try expression(part) }
    writer.endArray()
  }

  private static func type(of value: EdmValue) -> String {
    if case .enumeration(_, let type) = value { return type }
    return value.primitive?.rawValue ?? "null"
  }
}

extension ODataSegment {
  /// `$count` without the dollar.
  var systemName: String {
    switch self {
    case .count: "count"
    case .value: "value"
    case .ref: "ref"
    case .links: "links"
    case .each: "each"
    case .query: "query"
    case .metadata: "metadata"
    case .batch: "batch"
    case .entity: "entity"
    case .all: "all"
    case .filter: "filter"
    case .crossjoin: "crossjoin"
    case .name: "name"
    case .predicate: "predicate"
    case .keySegment: "key-segment"
    }
  }
}
