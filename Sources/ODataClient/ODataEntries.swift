import FerryHTTPClient
import FerryOData

/// The entries of a set, page after page, as they come.
///
/// A page is asked for when its first entry is; letting go of the iterator ends the transfer.
public struct ODataEntries: AsyncSequence, Sendable {
  /// An entry with its links and its ETag.
  public typealias Element = ODataEntry
  /// What ends the pages early.
  public typealias Failure = ODataClientError

  let service: ODataService
  let start: String

  /// Begins at the first page; nothing is sent before the first `next`.
  public func makeAsyncIterator() -> Iterator { Iterator(service, start) }

  /// Reads one page at a time, with the memory of its largest entry.
  public struct Iterator: AsyncIteratorProtocol {
    private let service: ODataService
    private var address: String?
    private var links: ODataNextLinks
    private var page: Page?
    /// Pages without an entry, one after the other.
    private var emptyPages: Int = 0

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

    init(_ service: ODataService, _ start: String) {
      self.service = service
      address = start
      links = ODataNextLinks(start: start)
    }

    /// The next entry; nil at the end of the last page. Throws as `next(isolation:)`.
    public mutating func next() async throws(ODataClientError) -> ODataEntry? {
      try await next(isolation: nil)
    }

    /// The next entry; nil at the end of the last page.
    ///
    /// Throws what `ODataSession.open` throws, and `document` for a page that cannot be read or
    /// whose next link leads to another host or in a circle. After a throw there is nothing more.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ODataClientError) -> ODataEntry? {
      do throws(ODataClientError) {
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
        reader: ODataFeedReader(service.options(final)), body: response.body, address: final)
    }

    private mutating func read(
      isolation actor: isolated (any Actor)?
    ) async throws(ODataClientError) -> ODataEntry? {
      guard var page else { return nil }
      let name = "GET \(page.address)"
      while true {
        do throws(ODataError) {
          if let item = try page.reader.next() {
            page.items += 1
            self.page = page
            if case .entry(let entry) = item { return entry }
            continue
          }
        } catch {
          throw ODataClientError(error, name, wasSent: true)
        }
        if page.isOver { return nil }
        do throws(TransportError) {
          if let piece = try await page.body.next() {
            page.reader.push(piece)
          } else {
            page.isOver = true
            page.reader.finish()
          }
        } catch {
          throw ODataClientError(error, name)
        }
        self.page = page
      }
    }

    /// Goes to the next page, if there is one.
    private mutating func turn() throws(ODataClientError) {
      guard let page else { return }
      self.page = nil
      address = nil
      guard let next = page.reader.head.next else { return }
      emptyPages = page.items == 0 ? emptyPages + 1 : 0
      // Before V4 an empty page is the end: some services link on from it for ever.
      if emptyPages > 0 && service.metadata.version < .v4 { return }
      guard emptyPages <= ODataClientLimits.emptyPages else {
        let problem = "\(emptyPages) pages in a row hold no entry, and each links to another"
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
