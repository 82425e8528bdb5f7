import FerryHTTP

/// An address of a service as somebody types it, with spaces, and where its service begins.
struct TypedAddress {
  /// Percent-encoded.
  let text: String

  init(_ typed: String) {
    text = PercentEncoding.encode(typed, keeping: "!#$%&'()*+,/:;=?@[]")
  }

  /// Without the query.
  var path: String { String(text.prefix { $0 != "?" && $0 != "#" }) }

  /// The service's root, guessed: what stands before the set. It ends with a slash.
  var root: String {
    let path = path
    if path.hasSuffix("/") { return path }
    let begin = path.firstRange(of: "://")?.upperBound ?? path.startIndex
    let steps = path[begin...].split(separator: "/").dropFirst()
    // A step that begins with the bracket is no object: `/(S(session))/Service.svc/Items(1)`.
    if let object = steps.first(where: { $0.contains("(") && !$0.hasPrefix("(") }) {
      return String(path[..<object.startIndex])
    }
    var rest = steps
    if rest.last?.hasPrefix("$") == true { rest.removeLast() }
    guard let set = rest.last else { return path + "/" }
    return String(path[..<set.startIndex])
  }

  /// The steps behind a root, percent-encoded; nil for an address elsewhere.
  func steps(behind root: String) -> [String]? {
    let root = root.hasSuffix("/") ? root : root + "/"
    if path + "/" == root { return [] }
    guard path.hasPrefix(root) else { return nil }
    return path.dropFirst(root.count).split(separator: "/").map(String.init)
  }

  /// The absolute address of the first steps behind a root, without the query.
  func address(of steps: some Sequence<String>, behind root: String) -> String {
    (root.hasSuffix("/") ? root : root + "/") + steps.joined(separator: "/")
  }
}
