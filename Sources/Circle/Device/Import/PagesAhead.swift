import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// Why an import failed: a page does not fit the model.
struct UnfitPage: Error {
  /// Its place among those that were kept.
  let number: Int64
  /// Where it goes on from; nil where its head cannot be read.
  let from: Cursor?
}

/// The pages of a download in their order, each expanded, read and checked on a thread beside the
/// import while that inserts the ones before.
///
/// The file is read by the thread of the import alone, and always the same number of pages ahead:
/// what is asked of the disk does not depend on how fast the two are. A page that cannot be read is
/// an error when its turn comes.
struct PagesAhead {
  /// Pages in memory besides the one that is inserted; a page has a megabyte of text at most.
  private static let depth = 2

  private let store: Store
  private let connection: Connection
  private let group: String
  private var last: Int64 = 0
  private var isAtEnd = false
  private var pages: [@Sendable () -> Result<PageRows, FerryError>] = []
  /// Made for the second page: one alone is read where it is inserted.
  private var thread: ThreadExecutor?

  init(_ store: Store, _ connection: Connection, group: String) {
    self.store = store
    self.connection = connection
    self.group = group
  }

  /// Nil behind the last.
  mutating func next() throws(FerryError) -> PageRows? {
    while !isAtEnd, pages.count <= PagesAhead.depth {
      guard let page = try nextPage() else {
        isAtEnd = true
        break
      }
      begin(page.number, page.bytes)
    }
    return pages.isEmpty ? nil : try pages.removeFirst()().get()
  }

  private mutating func nextPage() throws(FerryError) -> (number: Int64, bytes: [UInt8])? {
    let row: (number: Int64, bytes: [UInt8])? = try store.sql { () throws(SQLiteError) in
      let row = try connection.row(
        """
        SELECT page.number, page.bytes FROM ferry_page AS page
        JOIN ferry_partition AS place ON place.number = page.partition
        WHERE page.number > ? AND place.grp = ? ORDER BY page.number LIMIT 1
        """, .integer(last), .text(group))
      guard let number = row?[0].integer, let bytes = row?[1].blob else { return nil }
      return (number, bytes)
    }
    if let row { last = row.number }
    return row
  }

  private mutating func begin(_ number: Int64, _ bytes: [UInt8]) {
    let package = store.served
    let read: @Sendable () -> Result<PageRows, FerryError> = {
      do throws(FerryError) { return .success(try PagesAhead.read(number, bytes, package)) } catch {
        return .failure(error)
      }
    }
    if thread == nil, !pages.isEmpty { thread = ThreadExecutor(name: "ferry-pages") }
    pages.append(thread?.begin(read) ?? read)
  }

  private static func read(
    _ number: Int64, _ bytes: [UInt8], _ package: Package
  ) throws(FerryError) -> PageRows {
    let page: RowsPage
    do throws(WireError) { page = try RowsPage(kept: bytes) } catch {
      throw FerryError(
        .protocolViolation, "a page cannot be imported: \(error.message)", hint: error.hint,
        cause: UnfitPage(number: number, from: nil))
    }
    do throws(JSONError) { return try PageRows(page, of: package) } catch {
      throw FerryError(
        .protocolViolation, "a page of the partition \(page.partition) cannot be read \(error)",
        hint:
          "The server uses another model; update the app or the server, and synchronize again.",
        entity: error.subject.first, attribute: error.subject.dropFirst().first,
        cause: UnfitPage(number: number, from: page.from))
    }
  }
}
