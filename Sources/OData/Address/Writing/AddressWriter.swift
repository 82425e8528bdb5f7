import FerryHTTP
import FerryOData

/// Writes addresses, and keys for the client.
///
/// A class for the sake of small frames, as the parser is.
final class AddressWriter {
  let version: ODataVersion
  var text = ""
  /// Whether a `/` or `?` inside of a value would end a segment.
  var isPath = false
  /// Whether nothing is percent-encoded.
  var isPlain = false
  /// Whether names and types are those that metadata declares. Names are written whatever they are,
  /// and a whole number has no `.0`: the type of a key is known.
  var isDeclared = false
  var variables: [String] = []

  init(_ version: ODataVersion) { self.version = version }

  var isOld: Bool { version < .v4 }

  func unwritable(_ message: String, _ hint: String) -> AddressFault {
    AddressFault(ODataError(.unwritable, message, hint: hint))
  }

  /// What only newer versions have.
  func needs(_ least: ODataVersion, _ what: String) throws(AddressFault) {
    guard version >= least else {
      throw unwritable(
        "V\(version.rawValue) has no \(what)", "ask for it in V\(least.rawValue), or leave it out")
    }
  }

  /// Appends syntax.
  func raw(_ syntax: String) { text += syntax }

  /// Appends syntax that is percent-encoded in an address.
  func encoded(_ syntax: String) { data(syntax) }

  /// What harms nowhere in a path; in a query `/` and `?` do not either.
  private static let keptInPath = "'(),:@$=*!;"
  private static let keptInQuery = keptInPath + "/?"

  /// Appends data: everything but letters, digits and what harms nowhere as `%XX`.
  func data(_ value: String, encodingAlso extra: String = "") {
    if isPlain {
      text += value
      return
    }
    var kept = isPath ? Self.keptInPath : Self.keptInQuery
    if !extra.isEmpty { kept.removeAll { extra.contains($0) } }
    text += PercentEncoding.encode(value, keeping: kept)
  }

  func quoted(_ value: String) {
    raw("'")
    data(value.doubling("'"))
    raw("'")
  }

  func name(_ name: String) throws(AddressFault) {
    guard isDeclared || ODataNames.isName(name) else { throw notAName(name) }
    data(name)
  }

  func qualifiedName(_ name: String) throws(AddressFault) {
    guard ODataNames.isQualified(name) else { throw notAName(name) }
    data(name)
  }

  func notAName(_ name: String) -> AddressFault {
    unwritable("\"\(name)\" is not a name", "names are letters, digits and _, with dots between")
  }

  /// A value as its literal.
  func literal(_ value: EdmValue) throws(AddressFault) {
    switch value {
    case .date, .timeOfDay:
      try needs(.v4, value.primitive?.rawValue ?? "type")
    case .spatial: try needs(.v3, "shapes")
    case .enumeration(let members, let type):
      try needs(.v3, "enumerations")
      if !type.isEmpty, !ODataNames.isQualified(type) { throw notAName(type) }
      for member in members.split(separator: ",", omittingEmptySubsequences: false) {
        guard ODataNames.isName(member) || Int64(member) != nil else {
          throw unwritable("\"\(member)\" as a member of \(type)", "name its members: Red,Blue")
        }
      }
    case .complex(let complex): return try object(complex)
    case .collection(let values):
      return try expression(.array(values.map { .literal($0) }), 9)
    case .invalid(let text, let type):
      throw unwritable("\"\(text)\" is not an \(type.rawValue)", "give it a value of its type")
    default: break
    }
    let text = value.literal(version)
    data(text, encodingAlso: isDeclared ? "=" : "")
    // A whole number would be divided as one.
    if !isOld, !isDeclared, value.isFraction, text.utf8.allSatisfy({ $0 < 0x3A }),
      !text.contains(".")
    {
      raw(".0")
    }
  }

  private func object(_ complex: EdmComplex) throws(AddressFault) {
    var members = complex.properties.map { ODataNamedValue($0.name, .literal($0.value)) }
    if let type = complex.type {
      members.insert(ODataNamedValue("@odata.type", .literal(.string("#\(type)"))), at: 0)
    }
    try expression(.object(members), 9)
  }
}

extension EdmValue {
  fileprivate var isFraction: Bool {
    switch self {
    case .single, .double, .decimal: true
    default: false
    }
  }
}
