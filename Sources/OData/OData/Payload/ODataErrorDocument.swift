import FerryJSON

/// What a service says when something went wrong, from XML or JSON of any version.
///
/// Reference: ios/PAR-4 `SDMODataError`.
public struct ODataErrorDocument: Sendable, Hashable {
  /// One of several things that went wrong.
  public struct Detail: Sendable, Hashable {
    /// The service's own word or number for it; nil without one.
    public var code: String?
    /// For people, in the language of the request if the service has it.
    public var message: String
    /// The property or path that it is about.
    public var target: String?
    /// SAP's word, such as `error` or `warning`; nil where the service does not say.
    public var severity: String?

    /// Only the text is required.
    public init(
      code: String? = nil, message: String, target: String? = nil, severity: String? = nil
    ) {
      self.code = code
      self.message = message
      self.target = target
      self.severity = severity
    }
  }

  /// The service's own word or number, such as `SY/530`; `""` without one.
  public var code: String
  /// For people, in the language that `language` names.
  public var message: String
  /// `xml:lang` or `lang` of the text, such as `en`; nil without one.
  public var language: String?
  /// The property or path that it is about; nil without one.
  public var target: String?
  /// From `details`, and from SAP's `errordetails`.
  public var details: [Detail]
  /// Everything inside `innererror`, as paths and texts.
  public var innerError: [String: String]

  /// Without details and inner error.
  public init(code: String, message: String, language: String? = nil) {
    self.code = code
    self.message = message
    self.language = language
    details = []
    innerError = [:]
  }

  func thrown(at place: ODataPlace?) -> ODataError {
    ODataError(
      .service, "the service reports \(code.isEmpty ? "an error" : code): \(message)", at: place)
  }

  /// Reads an error document. Throws `unexpectedDocument` for anything else that is well-formed.
  public static func read(
    _ bytes: [UInt8], limits: ODataLimits = .standard
  ) throws(ODataError) -> ODataErrorDocument {
    if HTMLPage.isHTML(bytes) { throw HTMLPage.refusal }
    if ODataSniff.isJSON(bytes) {
      let text = try EdmJSONReader.decoded(bytes)
      let root = try EdmJSONReader.parse(text, limits: limits)
      guard let error = ODataErrorDocument(json: root) else {
        throw ODataError(
          .unexpectedDocument, "the JSON has no error member", at: ODataPlace(line: 1, column: 1))
      }
      return error
    }
    let (tree, _) = try XMLTree.read(bytes, limits: limits)
    if let page = HTMLPage.error(tree.root) { throw page }
    guard tree.root.local == "error" else {
      throw ODataError(
        .unexpectedDocument, "the root is \(tree.root.local), not error", at: tree.root.place)
    }
    return ODataErrorDocument(atom: tree.root)
  }

  init(atom element: XMLElement) {
    self.init(code: "", message: "")
    for child in element.children {
      switch child.local {
      case "code": code = child.text.trimmed
      case "message":
        message = child.text.trimmed
        language = child.attribute("lang", .xml)
      case "target": target = child.text.trimmed
      case "details":
        for detail in child.children { details.append(Self.detail(detail)) }
      case "innererror":
        gather(child, "")
        for list in child.children where list.local == "errordetails" {
          for detail in list.children { details.append(Self.detail(detail)) }
        }
      default: break
      }
    }
  }

  private static func detail(_ element: XMLElement) -> Detail {
    func text(_ name: String) -> String? {
      element.children.first { $0.local == name }?.text.trimmed.nilIfEmpty
    }
    return Detail(
      code: text("code"), message: text("message") ?? "",
      target: text("target") ?? text("propertyref"), severity: text("severity"))
  }

  private mutating func gather(_ element: XMLElement, _ path: String) {
    var counts: [String: Int] = [:]
    for child in element.children {
      counts[child.local, default: 0] += 1
      let number = counts[child.local] ?? 1
      let name = number > 1 ? "\(child.local)[\(number)]" : child.local
      let path = path.isEmpty ? name : "\(path)/\(name)"
      if child.hasChildren { gather(child, path) } else { innerError[path] = child.text }
    }
  }

  package init?(json root: JSONNode) {
    guard let error = root["error"] ?? root["odata.error"], error.object != nil else { return nil }
    self.init(code: Self.text(error["code"]) ?? "", message: "")
    if let message = error["message"] {
      self.message = message.string ?? message["value"]?.string ?? ""
      language = message["lang"]?.string
    }
    target = error["target"]?.string
    for detail in error["details"]?.array ?? [] { details.append(Self.detail(detail)) }
    if let inner = error["innererror"] ?? error["@Common.innererror"] {
      gather(inner, "")
      for detail in inner["errordetails"]?.array ?? [] { details.append(Self.detail(detail)) }
    }
  }

  private static func detail(_ node: JSONNode) -> Detail {
    Detail(
      code: text(node["code"]),
      message: node["message"]?.string ?? node["message"]?["value"]?.string ?? "",
      target: (node["target"] ?? node["propertyref"])?.string?.nilIfEmpty,
      severity: text(node["severity"]))
  }

  private static func text(_ node: JSONNode?) -> String? {
    switch node?.content {
    case .string(let text), .number(let text): text
    case .boolean(let value): value ? "true" : "false"
    default: nil
    }
  }

  private mutating func gather(_ node: JSONNode, _ path: String) {
    switch node.content {
    case .object(let members):
      for member in members {
        gather(member.value, path.isEmpty ? member.key : "\(path)/\(member.key)")
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() { gather(element, "\(path)[\(index + 1)]") }
    case .null: innerError[path] = ""
    default: innerError[path] = Self.text(node) ?? ""
    }
  }
}
