import FerryHTTP
import FerryOData
import FerryODataAddress

/// A request as it was understood: its address, and what its headers ask for.
struct ODataCall: Sendable {
  /// How much JSON says of itself.
  enum Control: String, Sendable { case none, minimal, full }

  let request: HTTPRequest
  let version: ODataVersion
  let root: String
  /// Behind the root, with the question mark.
  let relative: String
  let address: ODataAddress
  /// Nil for addresses without a set.
  let resolved: ODataResolvedAddress?
  /// The name of a write whose result is asked for.
  let pending: String?

  static let pendingPath = "$operations/"

  init(
    _ request: HTTPRequest, rest: String, root: String, _ metadata: EdmMetadata
  ) throws(ODataRefusal) {
    self.request = request
    self.root = root
    version = metadata.version
    relative = rest + (request.query.map { "?" + $0 } ?? "")
    try Self.checkVersions(request.headers, metadata.version)
    if rest.hasPrefix(Self.pendingPath) {
      pending = String(rest.dropFirst(Self.pendingPath.count))
      address = ODataAddress(root)
      resolved = nil
      return
    }
    pending = nil
    do throws(ODataError) {
      // Names and types are checked after the forms, so that a fault says which it is.
      var settings = ODataAddressSettings(version: version, service: root)
      settings.limits = .standard
      var parsed = try ODataAddress(parsing: root + relative, settings)
      if version < .v4 { parsed.options = parsed.options.nested }
      address = parsed
      resolved = parsed.path.isEmpty ? nil : try ODataResolvedAddress(parsed, in: metadata)
    } catch { throw ODataRefusal(error, start: root.unicodeScalars.count) }
  }

  private static func checkVersions(
    _ headers: HTTPHeaders, _ own: ODataVersion
  ) throws(ODataRefusal) {
    let isV4 = own >= .v4
    let name = isV4 ? "OData-Version" : "DataServiceVersion"
    let most = isV4 ? "OData-MaxVersion" : "MaxDataServiceVersion"
    let known = isV4 ? ["4.0", "4.01"] : ["1.0", "2.0"]
    // `2.0;NetFx` names the client's library too.
    if let text = headers[name], let version = text.split(separator: ";").first,
      !known.contains(String(version).trimmedBlanks)
    {
      throw ODataRefusal(
        400, "unknownVersion",
        "\(name) \(text) is not known. Send \(known[0]), or leave the header out.", target: name)
    }
    if let text = headers[most], let version = ODataVersion(header: text), isV4 != (version >= .v4)
    {
      guard isV4 || version < .v2 else { return }
      throw ODataRefusal(
        400, "unknownVersion",
        "This service speaks OData \(own.rawValue).0, and the request allows up to \(text). Send "
          + "\(most): \(own.rawValue).0, or leave the header out.", target: most)
    }
  }

  func allow(_ methods: [HTTPMethod]) throws(ODataRefusal) {
    guard !methods.contains(request.method) else { return }
    let names = methods.map(\.rawValue).joined(separator: ", ")
    var refusal = ODataRefusal(
      405, "methodNotAllowed", "\(request.method) is not possible here. Use \(names).")
    refusal.headers["Allow"] = names
    throw refusal
  }

  /// Media types that the client takes, with their parameters; empty where it names none.
  var accepted: [(type: String, parameters: [String: String])] {
    if let format = address.options.format {
      switch format.lowercased() {
      case "json": return [("application/json", [:])]
      case "xml": return [("application/xml", [:])]
      case "atom": return [("application/atom+xml", [:])]
      default: return Self.mediaTypes(format)
      }
    }
    return request.headers.values("Accept").flatMap { Self.mediaTypes($0) }
  }

  private static func mediaTypes(_ text: String) -> [(type: String, parameters: [String: String])] {
    text.split(separator: ",").compactMap { item in
      let parts = item.split(separator: ";").map { String($0).trimmedBlanks }
      guard let type = parts.first, !type.isEmpty else { return nil }
      var parameters: [String: String] = [:]
      for part in parts.dropFirst() {
        let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
        if sides.count == 2 {
          let value = sides[1].filter { $0 != "\"" }
          parameters[sides[0].lowercased()] = value.lowercased()
        }
      }
      // What has a quality of nothing is not wanted.
      if let quality = parameters["q"], Double(quality) == 0 { return nil }
      return (type.lowercased(), parameters)
    }
  }

  /// Throws where the client takes none of these.
  func accept(_ types: [String]) throws(ODataRefusal) {
    let accepted = accepted
    guard !accepted.isEmpty else { return }
    let takes = accepted.contains { wanted, _ in
      wanted == "*/*"
        || types.contains {
          $0 == wanted || wanted.hasSuffix("/*") && $0.hasPrefix(wanted.dropLast())
        }
    }
    guard takes else {
      throw ODataRefusal(
        406, "notAcceptable",
        "Only \(types.joined(separator: ", ")) can be given here. Change Accept or $format.",
        target: address.options.format == nil ? "Accept" : "$format")
    }
  }

  /// Whether XML is asked for and JSON is not.
  var prefersXML: Bool {
    let types = accepted.map(\.type)
    return !types.isEmpty && !types.contains { $0 == "*/*" || $0.contains("json") }
      && types.contains { $0.contains("xml") }
  }

  /// A preference by its name; an empty text where it has no value.
  func preference(_ name: String) -> String? {
    for line in request.headers.values("Prefer") {
      for item in line.split(whereSeparator: { $0 == "," || $0 == ";" }) {
        let sides = item.split(separator: "=", maxSplits: 1).map { String($0).trimmedBlanks }
        guard let first = sides.first?.lowercased() else { continue }
        guard first == name || first == "odata." + name else { continue }
        return sides.count == 2 ? sides[1].filter { $0 != "\"" } : ""
      }
    }
    return nil
  }
}

extension String {
  var trimmedBlanks: String {
    let head = drop { $0 == " " || $0 == "\t" }
    guard let end = head.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return String(head[...end])
  }
}
