import FerryHTTP
import FerryModel

/// How a service of REST has the objects of a model: what stands in `<package>.rest.json`.
public struct RESTMapping: Sendable {
  /// How the rows behind the first answer of a list are asked for.
  enum Paging: Sendable, Equatable {
    /// The list is one answer.
    case none
    /// The header `Link` with `rel="next"` (RFC 8288).
    case link
    /// The address of the next page is in the body.
    case next(JSONPath)
    /// By the place of the first row, in parameters of these names.
    case offset(String, limit: String?)
    /// By the number of the page.
    case page(String, size: String?, first: Int)
    /// By a text of the answer before.
    case cursor(String, at: JSONPath)
  }

  struct List: Sendable {
    var address: AddressTemplate
    /// Where the rows are in the answer.
    var rows: JSONPath = .whole
    var paging: Paging = .none
    /// How many rows an answer is asked for.
    var pageRows: Int = 500
    /// Where the answer says how many rows there are; nil where it does not.
    var count: JSONPath?
  }

  /// How rows that others changed are asked for.
  struct Changes: Sendable {
    var list: List
    /// Where each row says when it was changed.
    var field: JSONPath
    /// How much of the time before is asked for again, in seconds; 0 where the field is no time.
    var overlap: Int64
  }

  /// How rows are found that were deleted.
  enum Deletes: Sendable {
    /// All rows are compared.
    case comparison
    /// A row that says so itself.
    case flag(JSONPath)
    /// A list of their keys, by the same time as changed rows.
    case list(List, key: [JSONPath])
  }

  enum Body: String, Sendable, CaseIterable {
    /// The object as it was read, with the changes in it.
    case whole
    /// The attributes that were changed.
    case changed
    /// JSON Merge Patch (RFC 7396).
    case merge
    /// JSON Patch (RFC 6902).
    case patch
    case none
  }

  struct Call: Sendable {
    var method: HTTPMethod
    var address: AddressTemplate
    var headers: HTTPHeaders = HTTPHeaders()
    var body: Body = .none
    /// Where in the body the object is.
    var bodyAt: JSONPath = .whole
    /// Where in the answer the row is.
    var row: JSONPath = .whole
  }

  /// What holds a write back where somebody else has changed the object.
  enum Condition: Sendable, Equatable {
    /// `If-Match` with the header `ETag`, or with what the row has at a path.
    case etag(JSONPath?)
    /// The row's own version, sent back in the body.
    case version(JSONPath)
    /// `If-Unmodified-Since` with `Last-Modified`: to a second, so it proves nothing.
    case unmodifiedSince
    /// The `test` of JSON Patch, with the values that the change was based on.
    case test
    case none
  }

  /// How a create whose answer was lost is found again.
  enum Memory: Sendable, Equatable {
    /// The service knows a request by a number in this header, for so long.
    case requests(header: String, window: Duration)
    /// A field of the object takes the number of the operation.
    case marker(JSONPath)
    /// Attributes that no other object has.
    case natural([Int])
    case none
  }

  /// What an answer means that does not say it by its status.
  struct Rule: Sendable {
    enum Meaning: String, Sendable, CaseIterable {
      case success, warning, refusal, failure, later, lost, absent, changed
    }
    /// The kinds of changes whose answers it is about; nil: all, and answers to readings too.
    var kinds: Set<OperationKind>?
    /// `409`, `4xx`; nil: any.
    var status: String?
    var header: String?
    var at: JSONPath?
    /// One of these must be there; nil: anything.
    var values: Set<String>?
    var meaning: Meaning
    /// The code of the reference; nil: by the status.
    var code: Int?
    /// Where the sentence for the user is, or the sentence itself.
    var textAt: JSONPath?
    var text: String?
  }

  struct Refusals: Sendable {
    var message: [JSONPath]
    var code: JSONPath?
    var attribute: JSONPath?
  }

  /// One entity.
  struct Form: Sendable {
    var list: List
    var read: Call?
    var create: Call?
    var update: Call?
    var delete: Call?
    /// Rows with certain values; the template names the attributes, or `marker`.
    var find: List?
    var condition: Condition
    /// Answers that say that the condition did not hold.
    var changedStatus: Set<Int>
    var memory: Memory
    var changes: Changes?
    var deletes: Deletes
    /// By position in the entity's attributes.
    var values: [ValueForm]
    /// Sent with each create beside the attributes.
    var constants: [(path: JSONPath, value: JSONDraft)]
    /// Before those of the mapping.
    var rules: [Rule] = []
  }

  var headers: HTTPHeaders
  var credential: RESTCredential?
  var perSecond: Int?
  /// How long after a lost answer its request may still arrive.
  var late: Duration
  var refusals: Refusals
  var rules: [Rule]
  /// Whether a 404 without a document of the service says that the object is not there.
  var believesEmptyAbsence: Bool
  /// By the names of entities.
  var forms: [String: Form]
  /// The service's address, where the mapping names it.
  public let service: String?

  /// Whether it names a secret.
  public var hasCredential: Bool { credential != nil }
  /// Whether the place of the secret is the same wherever the mapping is.
  public var namesCredentialWholly: Bool {
    switch credential?.secret {
    case .file(let name)?: name.hasPrefix("/")
    case .environment?, nil: true
    }
  }

  /// What is beside a model: `Shop.rest.json` for the package Shop.
  public static func fileName(of package: Package) -> String { "\(package.name).rest.json" }
}

/// What is wrong with a mapping, where, and what to do about it.
public struct RESTMappingFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// A pointer into the file, such as `/entities/Item/list/address`.
  public let place: String
  /// A clause without a full stop.
  public let problem: String
  public let cure: String

  public var description: String { "\(place): \(problem). \(cure)" }
}
