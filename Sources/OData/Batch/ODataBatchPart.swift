import FerryOData

/// One request or response of a batch.
///
/// What the part holds does not depend on the format: a changeset of multipart and an atomicity
/// group of JSON are both a `group`, a Content-ID and an id of JSON are both an `id`.
public struct ODataBatchPart: Sendable, Hashable {
  /// What the part asks for, or what came of it.
  public enum Subject: Sendable, Hashable {
    /// The method and the address, absolute, relative, or beginning with `$` and an earlier `id`.
    case request(method: String, url: String)
    /// What came of one request, such as 204.
    case response(status: Int)
  }

  /// A header of the request or response.
  public typealias Header = ODataRequestBody.Header

  /// Decides whether the part is a request or a response.
  public var subject: Subject
  /// Without `Content-Length` and `Content-ID`, which belong to the form of a batch.
  public var headers: [Header]
  /// Empty for a part without content, and while a reader delivers it in pieces.
  public var body: [UInt8]
  /// The name by which later parts and the response refer to it; JSON wants one for each part.
  public var id: String?
  /// Parts of one group stand beside each other and succeed or fail together.
  public var group: String?
  /// Ids and groups that must have succeeded before (JSON only).
  public var dependsOn: [String]
  /// An expression that decides whether the request is performed (JSON only).
  public var condition: String?

  /// Outside of any group and without conditions, unless set otherwise.
  public init(
    _ subject: Subject, headers: [Header] = [], body: [UInt8] = [], id: String? = nil,
    group: String? = nil, dependsOn: [String] = [], condition: String? = nil
  ) {
    self.subject = subject
    self.headers = headers
    self.body = body
    self.id = id
    self.group = group
    self.dependsOn = dependsOn
    self.condition = condition
  }

  /// A request without a body, such as a GET or DELETE.
  public static func request(
    _ method: String, _ url: String, headers: [Header] = [], id: String? = nil,
    group: String? = nil
  ) -> ODataBatchPart {
    ODataBatchPart(.request(method: method, url: url), headers: headers, id: id, group: group)
  }

  /// What an `ODataComposer` made, sent to an address.
  public static func request(
    _ request: ODataRequestBody, to url: String, id: String? = nil, group: String? = nil
  ) -> ODataBatchPart {
    ODataBatchPart(
      .request(method: request.method, url: url), headers: request.headers, body: request.body,
      id: id, group: group)
  }

  /// The answer to one request.
  public static func response(
    _ status: Int, headers: [Header] = [], body: [UInt8] = [], id: String? = nil,
    group: String? = nil
  ) -> ODataBatchPart {
    ODataBatchPart(.response(status: status), headers: headers, body: body, id: id, group: group)
  }

  /// False for a response.
  public var isRequest: Bool { if case .request = subject { true } else { false } }

  /// Such as `GET`; nil for a response.
  public var method: String? { if case .request(let method, _) = subject { method } else { nil } }

  /// As the batch writes it, so possibly relative; nil for a response.
  public var url: String? { if case .request(_, let url) = subject { url } else { nil } }

  /// The HTTP code, such as 201; nil for a request.
  public var status: Int? { if case .response(let status) = subject { status } else { nil } }

  /// The first header of a name, whatever its case.
  public func header(_ name: String) -> String? {
    headers.first { BatchText.isSame($0.name, name) }?.value
  }

  /// The body as text, for documents that are text.
  public var text: String { String(decoding: body, as: UTF8.self) }
}

/// What a reader of a batch comes across, in order.
public enum ODataBatchItem: Sendable, Hashable {
  /// A part begins; its `body` is empty and follows in pieces.
  case part(ODataBatchPart)
  /// The next bytes of the body of the last part.
  case body([UInt8])
  /// The last part is complete.
  case end
}

/// The two forms of a batch.
public enum ODataBatchFormat: Sendable, Hashable {
  /// MIME parts between lines of the boundary: every version.
  case multipart(boundary: String)
  /// One JSON object: V4.01.
  case json

  /// The `Content-Type` of such a batch.
  public var contentType: String {
    switch self {
    case .multipart(let boundary):
      BatchText.isToken(boundary)
        ? "multipart/mixed;boundary=\(boundary)" : "multipart/mixed;boundary=\"\(boundary)\""
    case .json: "application/json"
    }
  }

  /// The format that a `Content-Type` names; nil when it names another one.
  public init?(contentType: String) {
    let (type, parameters) = BatchText.mediaType(contentType)
    if type == "multipart/mixed", let boundary = parameters["boundary"],
      BatchText.isBoundary(boundary)
    {
      self = .multipart(boundary: boundary)
    } else if type == "application/json" {
      self = .json
    } else {
      return nil
    }
  }
}
