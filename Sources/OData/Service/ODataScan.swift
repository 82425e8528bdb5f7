import FerryOData
import FerryODataAddress
import Synchronization

/// A set as a query asks for it: the source's rows, with what the source does not do itself.
final class ODataScan: Sendable {
  struct Row: Sendable {
    let entry: ODataEntry
    let position: String
    /// By what it is sorted, as literals.
    var values: [String] = []
  }

  struct Page: Sendable {
    var rows: [Row]
    var isLast: Bool
    /// How many rows were looked at.
    var scanned: Int
    /// The position of the last of them.
    var end: String?
  }

  let work: ODataWork
  private let set: EdmEntitySet
  private let query: ODataSourceQuery
  private let needs: ODataNeeds
  private let filter: ODataExpression?
  private let order: [ODataOrder]
  private let token: ODataToken?
  private let pageSize: Int?
  private let sorted = Mutex<[Row]?>(nil)

  init(_ work: ODataWork, _ set: EdmEntitySet) throws(ODataRefusal) {
    self.work = work
    self.set = set
    let options = work.options
    let condition = work.condition(options, set)
    query = ODataSourceQuery(set, filter: condition, orderBy: options.orderBy)
    let parts = work.source.parts(of: query)
    filter = parts.contains(.filter) ? nil : condition
    order = parts.contains(.order) ? [] : options.orderBy
    needs = try ODataNeeds(work, set)
    guard order.count <= work.limits.orderItems else {
      throw ODataRefusal(
        501, "tooMuch",
        "$orderby has more than \(work.limits.orderItems) criteria. Leave some out.",
        target: "$orderby")
    }
    pageSize = try Self.pageSize(work)
    if let text = options.skipToken {
      guard let known = ODataToken(text, query: work.queryName) else {
        throw ODataRefusal(
          400, "badToken",
          "The $skiptoken does not belong to this address. Follow @odata.nextLink as it stands, or "
            + "begin without a token.", target: "$skiptoken")
      }
      token = known
    } else {
      token = nil
    }
  }

  private static func pageSize(_ work: ODataWork) throws(ODataRefusal) -> Int? {
    guard let text = work.call.preference("maxpagesize") else { return nil }
    guard let size = Int(text), size > 0 else {
      throw ODataRefusal(
        400, "badPreference", "maxpagesize=\(text) is not a number above 0.", target: "Prefer")
    }
    return size
  }

  func rows() async throws(ODataRefusal) -> ODataRows {
    ODataRows(self, token, pageSize: pageSize, mark: try await mark())
  }

  /// Before the first row is read: what changes while a client reads the pages comes again.
  private func mark() async throws(ODataRefusal) -> String? {
    if let token { return token.mark }
    guard work.call.preference("track-changes") != nil, work.canBeFollowed(needs) else {
      return nil
    }
    return try await work.source.mark(set, query: work.changesName)
  }

  /// How many entities the filter holds for, whatever the token says.
  func count() async throws(ODataRefusal) -> Int {
    var count = 0
    var scanned = 0
    var position: String?
    while true {
      let page = try await plainPage(after: position, count: work.limits.pageRows)
      count += page.rows.count
      scanned += page.scanned
      position = page.end
      guard !page.isLast else { return count }
      if filter != nil, scanned >= work.limits.scanRows { try tooMany() }
      try work.budget.check("Counting")
    }
  }

  func tooMany() throws(ODataRefusal) {
    throw ODataRefusal(
      501, "tooMuch",
      "More than \(work.limits.scanRows) rows of \(set.name) would have to be looked at. Ask with a "
        + "narrower $filter that the service does itself, without $orderby, $count and $skip.",
      target: filter == nil ? nil : "$filter")
  }

  func page(after position: String?, count: Int) async throws(ODataRefusal) -> Page {
    order.isEmpty
      ? try await plainPage(after: position, count: count)
      : try await sortedPage(after: position, count: count)
  }

  private func plainPage(after position: String?, count: Int) async throws(ODataRefusal) -> Page {
    let page = try await work.source.page(query, after: position, count: count)
    var rows = page.rows.map { Row(entry: $0.entry, position: $0.position) }
    if let filter {
      let filled = try await needs.filled(rows.map(\.entry))
      let evaluator = work.evaluator
      var kept: [Row] = []
      var end: String?
      for (row, entry) in zip(rows, filled) {
        do throws(ODataError) {
          if try evaluator.holds(filter, for: entry) { kept.append(row) }
          end = row.position
        } catch {
          // The rows that were looked at are the page, where there is one.
          guard error.code == .limit, work.budget.isOver, let end else {
            throw work.refusal(error)
          }
          return Page(rows: kept, isLast: false, scanned: kept.count, end: end)
        }
        await work.budget.shareThread()
      }
      rows = kept
    }
    return Page(
      rows: rows, isLast: page.isLast, scanned: page.rows.count, end: page.rows.last?.position)
  }

  /// All rows are held to be sorted; a page of them is what is behind a row that is known.
  private func sortedPage(after position: String?, count: Int) async throws(ODataRefusal) -> Page {
    let all: [Row]
    if let known = sorted.withLock({ $0 }) {
      all = known
    } else {
      all = try await sort()
      sorted.withLock { $0 = all }
    }
    var start = 0
    if let position {
      if let known = all.firstIndex(where: { $0.position == position }),
        token?.position != position || all[known].values == token?.values
      {
        start = known + 1
      } else if let token {
        // The row is gone, or stands elsewhere by now: those go on that come behind its place.
        start = all.count
        for (index, row) in all.enumerated() where try isBehind(row, token) {
          start = index
          break
        }
      }
    }
    let rows = Array(all[start...].prefix(count))
    return Page(
      rows: rows, isLast: start + rows.count >= all.count, scanned: 0, end: rows.last?.position)
  }

  private func sort() async throws(ODataRefusal) -> [Row] {
    var all: [Row] = []
    var scanned = 0
    var position: String?
    while true {
      let page = try await plainPage(after: position, count: work.limits.pageRows)
      all += page.rows
      scanned += page.scanned
      position = page.end
      guard all.count <= work.limits.sortedRows else {
        throw ODataRefusal(
          501, "tooMuch",
          "More than \(work.limits.sortedRows) entities of \(set.name) would have to be sorted. Ask "
            + "with a narrower $filter, or without $orderby.", target: "$orderby")
      }
      if page.isLast { break }
      if scanned >= work.limits.scanRows { try tooMany() }
      try work.budget.check("Sorting")
    }
    let filled = try await needs.filled(all.map(\.entry))
    let evaluator = work.evaluator
    do throws(ODataError) {
      var options = ODataQueryOptions()
      options.orderBy = order
      var marked: [ODataEntry] = []
      for (index, entry) in filled.enumerated() {
        var entry = entry
        entry.title = String(index)
        marked.append(entry)
      }
      return try evaluator.apply(options, to: marked).entries.map { entry throws(ODataError) in
        var row = all[entry.title.flatMap { Int($0) } ?? 0]
        row.values = try order.map { item throws(ODataError) in
          try evaluator.value(of: item.expression, for: entry).literal(work.call.version)
        }
        return row
      }
    } catch { throw work.refusal(error) }
  }

  /// Whether a row comes behind the place of the token in the order.
  private func isBehind(_ row: Row, _ token: ODataToken) throws(ODataRefusal) -> Bool {
    let evaluator = work.evaluator
    let nobody = ODataEntry()
    let settings = ODataAddressSettings(version: work.call.version)
    do throws(ODataError) {
      for (item, (mine, theirs)) in zip(order, zip(row.values, token.values)) where mine != theirs {
        let left = try ODataExpression(parsing: mine, settings)
        let right = try ODataExpression(parsing: theirs, settings)
        if try evaluator.holds(.compare(.equal, left, right), for: nobody) { continue }
        // Null comes first.
        let isGreater: Bool
        if mine == "null" {
          isGreater = false
        } else if theirs == "null" {
          isGreater = true
        } else {
          isGreater = try evaluator.holds(.compare(.greater, left, right), for: nobody)
        }
        return isGreater != item.isDescending
      }
    } catch { throw ODataRefusal(error) }
    return token.position.utf8.lexicographicallyPrecedes(row.position.utf8)
  }
}

extension ODataWork {
  /// What a token belongs to: the path and all options but those that a page changes.
  var queryName: String {
    var rest = call.address
    rest.options.skipToken = nil
    rest.options.top = nil
    rest.options.skip = nil
    rest.options.format = nil
    rest.service = ""
    let text = try? rest.uri(call.version)
    return text ?? call.relative
  }

  /// The address of the next page.
  func nextLink(_ token: ODataToken) throws(ODataRefusal) -> String {
    var next = call.address
    next.service = call.root
    next.options.skip = nil
    next.options.top = nil
    next.options.skipToken = token.text(queryName)
    do throws(ODataError) { return try next.uri(call.version) } catch { throw ODataRefusal(error) }
  }
}
