import FerryConnector
import FerryModel
import FerryOData
import FerryODataClient

/// The rows of a set, page after page as the service gives them.
actor FeedReader {
  private var rows: ODataPages<RowImage>.Iterator
  private let name: String
  private var count: Int?
  private var seen = 0
  private var isOver = false

  static let pageRows = 1_000

  init(_ service: ODataService, _ form: EntityForm) {
    name = form.set.name
    let make: @Sendable (ODataRow) throws(ODataError) -> RowImage = { row throws(ODataError) in
      guard form.isFlat else { return form.image(try row.entry()) }
      return form.image { value in
        try row.value(value.path[0], as: value.primitive)
      }
    }
    rows = service.rows(form.feedAddress(service), make).makeAsyncIterator()
  }

  enum Page: Sendable {
    case rows([RowImage])
    case failed(ConnectorError)
    /// The credential is not accepted.
    case unauthorized(ConnectorError)
    /// Nobody answers.
    case away(ConnectorError)

    func rows() throws(ConnectorError) -> [RowImage] {
      switch self {
      case .rows(let rows): return rows
      case .failed(let error), .unauthorized(let error), .away(let error): throw error
      }
    }
  }

  /// At most so many; none behind the last.
  func next(_ limit: Int) async -> Page {
    guard !isOver else { return .rows([]) }
    var iterator = rows
    var page: [RowImage] = []
    while page.count < limit {
      do throws(ODataClientError) {
        guard let row = try await iterator.next(isolation: self) else {
          isOver = true
          break
        }
        page.append(row)
        if count == nil { count = iterator.count.flatMap { Int($0) } }
      } catch {
        if case .transport = error.cause { return .away(ConnectorError(error)) }
        return error.isUnauthorized
          ? .unauthorized(ConnectorError(error)) : .failed(ConnectorError(error))
      }
    }
    rows = iterator
    seen += page.count
    if isOver, let count, seen < count {
      return .failed(
        ConnectorError(
          "The service counts \(count) objects in \(name) and gave \(seen)",
          hint: "It is read again.", isTransient: true))
    }
    return .rows(page)
  }
}
