import FerryHTTP
import FerryJSON

/// A part of a mapping, with its place for messages.
struct MappingNode {
  let node: JSONNode
  let place: String

  typealias Fault = RESTMappingFault

  func fault(_ problem: String, _ cure: String) -> Fault {
    Fault(place: place.isEmpty ? "/" : place, problem: problem, cure: cure)
  }

  /// The members, each once; only those that are known. Names that begin with `$` are for editors.
  func members(_ known: [String]) throws(Fault) -> [String: MappingNode] {
    guard let members = node.object else {
      throw fault("is no object", "Write { … } with: \(known.joined(separator: ", ")).")
    }
    var found: [String: MappingNode] = [:]
    for member in members where !member.key.hasPrefix("$") {
      let inner = MappingNode(node: member.value, place: "\(place)/\(member.key)")
      guard known.isEmpty || known.contains(member.key) else {
        throw inner.fault("is not known", "Write one of: \(known.joined(separator: ", ")).")
      }
      guard found[member.key] == nil else {
        throw inner.fault("is there twice", "Leave one of them out.")
      }
      found[member.key] = inner
    }
    return found
  }

  func string() throws(Fault) -> String {
    guard let text = node.string else { throw fault("is no text", "Write it in quotes.") }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw fault("has a control character", "Leave out line ends and tabs.")
    }
    return text
  }

  func boolean() throws(Fault) -> Bool {
    guard let value = node.boolean else {
      throw fault("is neither true nor false", "Write true or false, without quotes.")
    }
    return value
  }

  func number(_ range: ClosedRange<Int64>) throws(Fault) -> Int64 {
    guard let value = node.integer, range.contains(value) else {
      throw fault(
        "is no whole number from \(range.lowerBound) to \(range.upperBound)", "Correct it.")
    }
    return value
  }

  func path() throws(Fault) -> JSONPath {
    let text = try string()
    guard let path = JSONPath(text) else {
      throw fault("is no pointer of RFC 6901", "Write a path such as /address/city.")
    }
    return path
  }

  func template(_ known: [String]) throws(Fault) -> AddressTemplate {
    let text = try string()
    do throws(AddressTemplate.Fault) {
      let template = try AddressTemplate(text)
      if let name = template.names.first(where: { !known.contains($0) }) {
        throw AddressTemplate.Fault(
          problem: "names {\(name)}, and only these are known here: "
            + known.joined(separator: ", "))
      }
      return template
    } catch {
      throw fault(
        "the address \(error.problem)",
        "Write an address such as /items/{id}, behind the service's.")
    }
  }

  func word<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) throws(Fault) -> Word
  where Word.RawValue == String {
    let text = try string()
    if let word = Word(rawValue: text) { return word }
    throw fault(
      "\"\(text)\" is not known",
      "Write one of: \(Word.allCases.map(\.rawValue).joined(separator: ", ")).")
  }

  func headers() throws(Fault) -> HTTPHeaders {
    var headers = HTTPHeaders()
    for (name, value) in try members([]).sorted(by: { $0.key < $1.key }) {
      guard MappingNode.isHeaderName(name) else {
        throw value.fault("is no name of a header", "Write letters, digits and hyphens.")
      }
      headers[name] = try value.string()
    }
    return headers
  }

  func headerName() throws(Fault) -> String {
    let name = try string()
    guard MappingNode.isHeaderName(name) else {
      throw fault("is no name of a header", "Write letters, digits and hyphens.")
    }
    return name
  }

  static func isHeaderName(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy {
        ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2D || $0 == 0x5F
      }
  }
}
