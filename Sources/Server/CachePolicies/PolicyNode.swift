import FerryJSON

/// A part of a file of policies, with its place for messages.
struct PolicyNode {
  let node: JSONNode
  let place: String

  func fault(_ problem: String, _ cure: String) -> PolicyFault {
    PolicyFault(place: place.isEmpty ? "/" : place, problem: problem, cure: cure)
  }

  /// The members, each once; only those that are known, or any where none is named. Names that begin
  /// with `$` are for editors.
  func members(_ known: [String]) throws(PolicyFault) -> [String: PolicyNode] {
    guard let members = node.object else {
      throw fault("is no object", "Write { … }.")
    }
    var found: [String: PolicyNode] = [:]
    for member in members where !member.key.hasPrefix("$") {
      let inner = PolicyNode(node: member.value, place: "\(place)/\(member.key)")
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

  func string() throws(PolicyFault) -> String {
    guard let text = node.string else { throw fault("is no text", "Write it in quotes.") }
    return text
  }

  /// A list with one element at least.
  func strings() throws(PolicyFault) -> [PolicyNode] {
    guard let nodes = node.array, !nodes.isEmpty else {
      throw fault("is no list, or an empty one", "Write [\"…\", \"…\"].")
    }
    return nodes.enumerated().map { PolicyNode(node: $1, place: "\(place)/\($0)") }
  }

  private static let units: [(name: String, seconds: Int64)] = [
    ("s", 1), ("min", 60), ("h", 3_600), ("days", 86_400),
  ]

  /// Such as `10 s`, `5 min`, `1 h` or `2 days`.
  func duration(_ range: ClosedRange<Int64>) throws(PolicyFault) -> Duration {
    let text = try string()
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }
    guard let number = Int64(digits), number < 1_000_000_000,
      let known = PolicyNode.units.first(where: { $0.name == unit })
    else {
      throw fault(
        "\"\(text)\" is no time", "Write a number and a unit, such as 10 s, 5 min, 1 h or 2 days.")
    }
    let seconds = number * known.seconds
    guard range.contains(seconds) else {
      throw fault(
        "\"\(text)\" is too \(seconds < range.lowerBound ? "short" : "long")",
        "Write a time from \(range.lowerBound) s to \(range.upperBound) s.")
    }
    return .seconds(seconds)
  }

  /// Seconds since midnight, of `06:30` or `06:30:15`.
  func timeOfDay() throws(PolicyFault) -> Int64 {
    let text = try string()
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.map { part in
      part.utf8.count == 2 && part.utf8.allSatisfy { $0 &- 0x30 < 10 } ? Int64(part) : nil
    }
    let limits: [Int64] = [23, 59, 59]
    guard (2...3).contains(parts.count),
      zip(numbers, limits).allSatisfy({ number, limit in number.map { $0 <= limit } ?? false })
    else { throw fault("\"\(text)\" is no hour of the day", "Write it as 06:30 or 06:30:15.") }
    return zip(numbers, [3_600, 60, 1] as [Int64]).reduce(0) { $0 + ($1.0 ?? 0) * $1.1 }
  }
}
