/// Where in a document something stands.
public struct ODataPlace: Sendable, Hashable, CustomStringConvertible {
  /// Counted from 1; 0 when the document has no lines (a value made by hand).
  public let line: Int
  /// Counted from 1.
  public let column: Int
  /// The way to it from the root, such as `/feed/entry[3]/content`; may be empty.
  public let path: String

  /// Without a line, only the path says where it is.
  public init(line: Int = 0, column: Int = 0, path: String = "") {
    self.line = line
    self.column = column
    self.path = path
  }

  public var description: String {
    path.isEmpty ? "\(line):\(column)" : "\(line):\(column) \(path)"
  }
}

/// Why a document was refused, where, and what can be done about it.
///
/// Reference: ios/PAR-10, adr/PAX-5 (`SDMParserException`); the identifiers named there are the raw
/// values of `noServiceDocument` and `noEntitySchema`.
public struct ODataError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A closed word for the reason; more may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text is not well-formed XML or not JSON.
    public static let malformed = Code(rawValue: "malformed")
    /// The document ends before it is complete.
    public static let truncated = Code(rawValue: "truncated")
    /// The bytes are not in an encoding that is read, or not valid in the one they name.
    public static let encoding = Code(rawValue: "encoding")
    /// The document has a DOCTYPE; none is read, so that no entity can do harm.
    public static let doctype = Code(rawValue: "doctype")
    /// A limit of `ODataLimits` was passed.
    public static let limit = Code(rawValue: "limit")
    /// A well-formed document that is not what was asked for.
    public static let unexpectedDocument = Code(rawValue: "unexpected-document")
    /// An HTML page (often a login) came instead of OData.
    public static let htmlPage = Code(rawValue: "html-page")
    /// A mandatory attribute or element is missing.
    public static let missing = Code(rawValue: "missing")
    /// A text is no value of its type.
    public static let invalidValue = Code(rawValue: "invalid-value")
    /// A diagnostic while reading strictly.
    public static let strict = Code(rawValue: "strict")
    /// The service reported an error inside the stream.
    public static let service = Code(rawValue: "service")
    /// A next link was followed before, or leads to another host.
    public static let link = Code(rawValue: "link")
    /// Something cannot be written in the asked format or version.
    public static let unwritable = Code(rawValue: "unwritable")
    /// An id or group of a batch is given twice, or named before its part.
    public static let reference = Code(rawValue: "reference")
    /// Metadata needs a service document first.
    public static let noServiceDocument = Code(rawValue: "ParserNoServiceDocument")
    /// Entries need an entity schema.
    public static let noEntitySchema = Code(rawValue: "ParserNoEntitySchema")
  }

  /// What a program decides by.
  public let code: Code
  /// What was found, as a sentence without its end.
  public let message: String
  /// Nil where no single part of a document is at fault.
  public let place: ODataPlace?
  /// What the caller can do about it.
  public let hint: String

  /// The hint is the usual one for the code unless given.
  public init(_ code: Code, _ message: String, at place: ODataPlace? = nil, hint: String? = nil) {
    self.code = code
    self.message = message
    self.place = place
    self.hint = hint ?? Self.hint(for: code)
  }

  /// One line: place, what, cure.
  public var description: String {
    let head = place.map { "\($0): " } ?? ""
    return "\(head)\(message) [\(code.rawValue)] (\(hint))"
  }

  private static func hint(for code: Code) -> String {
    switch code {
    case .truncated: "ask for the document again; it was cut off on its way"
    case .encoding: "have the service send UTF-8"
    case .doctype: "remove the DOCTYPE; OData does not need it"
    case .limit: "raise the limit in ODataLimits if the document is meant to be so large"
    case .unexpectedDocument: "use `ferry odata describe` to see the kind of the document"
    case .htmlPage: "log in, then ask for the document again"
    case .strict: "read with isStrict off, and check the diagnostics"
    case .noServiceDocument: "read the service document first and pass it"
    case .noEntitySchema: "pass the entity schema of the collection that was read"
    case .link: "check the address; it was not requested"
    case .reference: "give each part a unique id, and refer only to earlier parts"
    case .service: "read the message of the service, and ask again later"
    default: "correct the document at this place"
    }
  }
}

/// Something in a document that is not as it should be, and what follows from it.
public struct ODataDiagnostic: Sendable, Hashable, CustomStringConvertible {
  /// Line, column and path of the part.
  public let place: ODataPlace
  /// What was found, as a sentence without its end.
  public let message: String
  /// What the reader did instead.
  public let consequence: String

  /// The consequence completes the sentence.
  public init(_ message: String, at place: ODataPlace, consequence: String) {
    self.place = place
    self.message = message
    self.consequence = consequence
  }

  public var description: String { "\(place): \(message); \(consequence)" }
}

/// What no document may pass. The article Limits gives the reasons.
public struct ODataLimits: Sendable, Hashable {
  /// Open elements or containers: deeper than any service nests, shallow enough for any stack.
  public var depth: Int = 100
  /// One XML tag or comment: attributes are compared with each other, which is quadratic.
  public var tagBytes: Int = 256 << 10
  /// One text: 20 MB of binary must pass.
  public var valueBytes: Int = 32 << 20
  /// One entry of a feed with all it holds, and any document that is read as a whole.
  public var recordBytes: Int = 64 << 20
  /// Members of one object, or properties of one entry.
  public var members: Int = 100_000
  /// Parts of a batch: each one is work for a service; none answers more within its deadline.
  public var parts: Int = 100_000
  /// The head of one part of a batch: servers take heads of 8 to 64 KB.
  public var headBytes: Int = 64 << 10
  /// Headers of one part of a batch: each is searched for by its name.
  public var headFields: Int = 256
  /// What is kept of a JSON body while other members of its part may still come.
  public var heldBytes: Int = 1 << 20
  /// Diagnostics kept; the rest are counted into the last one.
  public var diagnostics: Int = 1_000

  /// The limits that hold unless an app changes them.
  public init() {}
  /// All defaults, which let 20 MB of binary pass.
  public static let standard = ODataLimits()
}

/// The generations of the protocol that differ in their payloads.
public enum ODataVersion: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Metadata of this version has namespaces of 2006.
  case v1 = 1
  /// The version that SAP's annotations belong to.
  case v2
  /// Adds spatial types, collections and named streams.
  case v3
  /// The OASIS standard, with JSON as its main format.
  case v4

  public static func < (left: ODataVersion, right: ODataVersion) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The version that a header or attribute such as `3.0;NetFx` names; nil when it names none.
  public init?(header: String) {
    guard let first = header.utf8.drop(while: { $0 == 0x20 }).first, first >= 0x31, first <= 0x34
    else { return nil }
    self.init(rawValue: Int(first - 0x30))
  }
}

/// The two shapes of a payload.
public enum ODataFormat: Sendable, Hashable, CaseIterable {
  /// XML, by the Atom Publishing Protocol.
  case atom
  /// Written verbose for V2 and V3, and in the OASIS form for V4.
  case json
}
