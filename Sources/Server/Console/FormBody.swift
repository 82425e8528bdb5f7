import FerryHTTP

/// The fields of a form, in their order (`application/x-www-form-urlencoded`).
struct FormBody {
  private let fields: [(name: String, value: String)]

  /// Nil where it is none, or cannot be read.
  init?(_ request: HTTPRequest) {
    let type = request.headers["Content-Type"]?.split(separator: ";").first.map(String.init)
    guard type?.lowercased() == "application/x-www-form-urlencoded" else { return nil }
    var fields: [(name: String, value: String)] = []
    for pair in request.body.split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard fields.count < 10_000, let name = sides.first.flatMap(FormBody.decoded),
        let value = sides.count == 2 ? FormBody.decoded(sides[1]) : ""
      else { return nil }
      fields.append((name, value))
    }
    self.fields = fields
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    PercentEncoding.decode(bytes, plusIsBlank: true)
  }

  subscript(_ name: String) -> String { fields.first { $0.name == name }?.value ?? "" }

  func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// What follows in the names that begin so, with their values.
  func named(_ prefix: String) -> [(name: String, value: String)] {
    fields.filter { $0.name.hasPrefix(prefix) }
      .map { (String($0.name.dropFirst(prefix.count)), $0.value) }
  }
}

enum PercentText {
  static func encode(_ text: String) -> String { PercentEncoding.encode(text) }
}
