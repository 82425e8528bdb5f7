import FerryHTTPClient
import FerryOData

/// The entries of a set with their links and ETags, page after page, as they come.
public typealias ODataEntries = ODataPages<ODataEntry>

/// What a feed holds, page after page, as it comes.
///
/// A page is asked for when its first entry is; letting go of the iterator ends the transfer.
public struct ODataPages<Element: Sendable>: AsyncSequence, Sendable {
  /// What ends the pages early.
  public typealias Failure = ODataClientError

  /// What a reader gives next.
  enum Step {
    case element(Element)
    /// Something of the feed that is no element.
    case other
    /// Nothing, before more bytes come.
    case nothing
  }

  let service: ODataService
  /// A query that cannot be sent is an error of the first `next`.
  let start: Result<ODataTarget, ODataClientError>
  let take: @Sendable (ODataFeedReader) throws(ODataError) -> Step

  /// Begins at the first page; nothing is sent before the first `next`.
  public func makeAsyncIterator() -> Iterator { Iterator(service, start, take) }

  /// Reads one page at a time, with the memory of its largest entry.
  public struct Iterator: AsyncIteratorProtocol {
    private let service: ODataService
    private var address: String?
    /// Of the entries, where the query says it.
    private let type: String?
    private var refusal: ODataClientError?
    private var links: ODataNextLinks
    private var lastDelta: String?
    private var page: Page?
    /// Pages without an entry, one after the other.
    private var emptyPages: Int = 0
    private let take: @Sendable (ODataFeedReader) throws(ODataError) -> Step

    /// A page that is being read.
    private struct Page {
      let reader: ODataFeedReader
      let body: any TransportBody
      let address: String
      var isOver: Bool = false
      var items: Int = 0
    }

    /// The number of all entries as the service states it on the page that is read; nil if it
    /// does not.
    public var count: String? { page?.reader.head.count }

    /// Where later changes will be; known once the last page was read, nil where the service does
    /// not say.
    public var deltaLink: String? { page?.reader.head.delta ?? lastDelta }

    init(
      _ service: ODataService, _ start: Result<ODataTarget, ODataClientError>,
      _ take: @escaping @Sendable (ODataFeedReader) throws(ODataError) -> Step
    ) {
      self.take = take
      self.service = service
      let target = try? start.get()
      if case .failure(let error) = start { refusal = error }
      address = target?.address
      type = target?.type
      links = ODataNextLinks(start: target?.address ?? service.root)
    }

    /// The next entry; nil at the end of the last page. Throws as `next(isolation:)`.
    public mutating func next() async throws(ODataClientError) -> Element? {
      try await next(isolation: nil)
    }

    /// The next entry; nil at the end of the last page.
    ///
    /// Throws what `ODataSession.open` throws, and `document` for a page that cannot be read or
    /// whose next link leads to another host or in a circle. After a throw there is nothing more.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ODataClientError) -> Element? {
      do throws(ODataClientError) {
        if let refusal {
          self.refusal = nil
          throw refusal
        }
        while true {
          if page == nil {
            guard let address else { return nil }
            try await begin(address, isolation: actor)
          }
          if let entry = try await read(isolation: actor) { return entry }
          try turn()
        }
      } catch {
        page?.body.cancel()
        page = nil
        address = nil
        throw error
      }
    }

    private mutating func begin(
      _ address: String, isolation actor: isolated (any Actor)?
    ) async throws(ODataClientError) {
      let url = try service.own(address, "GET")
      let request = ODataRequest(url, headers: service.readHeaders())
      let (response, final) = try await service.session.open(request)
      page = Page(
        reader: ODataFeedReader(service.options(final, type: type)), body: response.body,
        address: final)
    }

    private mutating func read(
      isolation actor: isolated (any Actor)?
    ) async throws(ODataClientError) -> Element? {
      while true {
        guard let page else { return nil }
        do throws(ODataError) {
          switch try take(page.reader) {
          case .element(let element):
            self.page?.items += 1
            return element
          case .other:
            self.page?.items += 1
            continue
          case .nothing: break
          }
        } catch {
          throw ODataClientError(error, "GET \(page.address)", wasSent: true)
        }
        if page.isOver { return nil }
        do throws(TransportError) {
          if let piece = try await page.body.next() {
            page.reader.push(piece)
          } else {
            self.page?.isOver = true
            page.reader.finish()
          }
        } catch {
          throw ODataClientError(error, "GET \(page.address)")
        }
      }
    }

    /// Goes to the next page, if there is one.
    private mutating func turn() throws(ODataClientError) {
      guard let page else { return }
      self.page = nil
      address = nil
      lastDelta = page.reader.head.delta
      guard let next = page.reader.head.next else { return }
      emptyPages = page.items == 0 ? emptyPages + 1 : 0
      // Before V4 an empty page is the end: some services link on from it for ever.
      if emptyPages > 0 && service.metadata.version < .v4 { return }
      guard emptyPages <= ODataClientLimits.emptyPages else {
        let problem = "\(emptyPages) pages in a row have no entries and link to another page"
        throw ODataClientError(
          ODataError(.link, problem), "GET \(page.address)", wasSent: true)
      }
      do throws(ODataError) {
        address = try links.follow(next, base: page.address)
      } catch {
        throw ODataClientError(error, "GET \(page.address)", wasSent: true)
      }
    }
  }
}
