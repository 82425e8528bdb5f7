import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryOData
import FerryODataClient

/// Why a feed was not read to its end.
struct FeedFailure: Error, Sendable {
  enum Kind: Sendable, Equatable {
    /// Nobody answers.
    case away
    /// The credential is not accepted.
    case unauthorized
    /// The service refuses the address itself: 400, 404, 410 and their like.
    case refused
    /// It cannot answer in time, or not at present.
    case late
    /// The answer is none, or contradicts itself.
    case odd
  }

  let kind: Kind
  let error: ConnectorError

  init(_ kind: Kind, _ error: ConnectorError) {
    self.kind = kind
    self.error = error
  }

  init(_ error: ODataClientError) {
    let kind: Kind =
      switch error.cause {
      case .transport: .away
      case .http(let answer):
        switch answer.status {
        case 401: .unauthorized
        case 504: .late
        case 408, 429, 500...: .odd
        default: .refused
        }
      default: .odd
      }
    self.init(kind, ConnectorError(error))
  }
}

/// Opens the pages of feeds and reads them as their bytes come.
struct FeedLine: Sendable {
  let service: ODataService

  /// One with its format for feeds.
  init(_ service: ODataService) {
    var service = service
    service.format = service.metadata.version < .v4 ? .atom : .json
    self.service = service
  }

  /// A page that is being read.
  final class Page {
    let reader: ODataFeedReader
    let body: any TransportBody
    /// The one that answered.
    let address: String
    fileprivate var isOver = false
    /// A list that stands alone is none of OData.
    fileprivate var isBare: Bool?

    fileprivate init(_ reader: ODataFeedReader, _ body: any TransportBody, _ address: String) {
      self.reader = reader
      self.body = body
      self.address = address
    }

    /// The number of all rows, as the service states it.
    var count: Int? { reader.head.count.flatMap { Int($0) } }
  }

  func open(
    _ address: String, _ form: EntityForm, prefers preference: String?
  ) async throws(FeedFailure) -> sending Page {
    guard ODataURL.origin(address) == ODataURL.origin(service.root) else {
      throw FeedFailure(
        .odd,
        ConnectorError(
          "The service leads to \(ODataURL.origin(address) ?? "nowhere"), and not to itself",
          hint: "Look at the links of the service; nothing was sent there.", isTransient: true))
    }
    var headers = service.readHeaders
    if let preference { headers["Prefer"] = preference }
    do throws(ODataClientError) {
      let (response, final) = try await service.session.open(
        ODataRequest(address, headers: headers))
      let options = ODataReadOptions(
        metadata: service.metadata, type: form.set.entityType, base: final,
        version: service.metadata.version)
      return Page(ODataFeedReader(options), response.body, final)
    } catch {
      throw FeedFailure(error)
    }
  }

  /// The next row of a page; nil at its end.
  func row(
    _ page: Page, _ form: EntityForm, isolation: isolated (any Actor)? = #isolation
  ) async throws(FeedFailure) -> RowImage? {
    try await pull(page) { reader throws(ODataError) in
      guard let row = try reader.nextRow() else { return nil }
      guard form.isFlat else { return form.image(try row.entry()) }
      return form.image { value in try row.value(value.path[0], as: value.primitive) }
    }
  }

  /// The next thing of a page of changes; nil at its end.
  func item(
    _ page: Page, isolation: isolated (any Actor)? = #isolation
  ) async throws(FeedFailure) -> ODataItem? {
    try await pull(page) { reader throws(ODataError) in try reader.next() }
  }

  private func pull<Found>(
    _ page: Page, isolation: isolated (any Actor)? = #isolation,
    _ take: (ODataFeedReader) throws(ODataError) -> Found?
  ) async throws(FeedFailure) -> Found? {
    while true {
      do throws(ODataError) {
        if let found = try take(page.reader) { return found }
      } catch {
        throw odd(page.address, "cannot be read: \(error.message)")
      }
      if page.isOver {
        // An empty answer is no empty set.
        guard page.reader.isFeed == true, page.isBare != true else {
          throw odd(page.address, "is no list")
        }
        return nil
      }
      do throws(TransportError) {
        if let piece = try await page.body.next() {
          if page.isBare == nil, let first = piece.first(where: { $0 > 32 }) {
            page.isBare = first == UInt8(ascii: "[")
          }
          page.reader.push(piece)
        } else {
          page.isOver = true
          page.reader.finish()
        }
      } catch {
        throw FeedFailure(
          .away,
          ConnectorError(
            "The answer to GET \(page.address) ended early: \(error.message)", hint: error.hint,
            isTransient: true))
      }
    }
  }

  private func odd(_ address: String, _ problem: String) -> FeedFailure {
    FeedFailure(
      .odd,
      ConnectorError(
        "The answer to GET \(address) \(problem)", hint: "It is read again; nothing was deleted.",
        isTransient: true))
  }
}
