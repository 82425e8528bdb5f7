import FerryHTTP
import FerryOData
import FerryODataAddress

/// A feed as it leaves, some rows at a time: what it takes of memory does not grow with it.
final actor ODataFeedBody: HTTPBodySource {
  private let work: ODataWork
  private let set: EdmEntitySet
  private let rows: ODataRows
  private let head: ODataFeedHead
  private let form: ODataForm
  /// Whether only the addresses of the entities are wanted.
  private let isOfReferences: Bool
  private var writer: ODataFeedWriter
  private var ready: [UInt8] = []
  private var isEnded: Bool = false

  init(
    _ work: ODataWork, _ set: EdmEntitySet, _ rows: ODataRows, _ head: ODataFeedHead,
    _ form: ODataForm, isOfReferences: Bool = false
  ) {
    self.isOfReferences = isOfReferences
    self.work = work
    self.set = set
    self.rows = rows
    self.head = head
    self.form = form
    var composer = work.service.composer(form)
    composer.deletedContext = "#\(set.name)/$deletedEntity"
    writer = ODataFeedWriter(composer)
  }

  /// The first bytes; whole where the feed is no longer than that.
  func begin() async throws(ODataRefusal) -> (bytes: [UInt8], isWhole: Bool) {
    do throws(ODataError) { try writer.begin(head) } catch { throw ODataRefusal(error) }
    ready = try await piece()
    return (ready, isEnded)
  }

  private func piece() async throws(ODataRefusal) -> [UInt8] {
    let part = try await rows.next()
    let entries =
      isOfReferences
      ? part.entries.map { work.reference(to: $0, set) }
      : try await work.shape(part.entries, set, work.options, form)
    do throws(ODataError) {
      for entry in entries {
        try writer.add(.entry(form.metadata == .none ? work.bare(entry) : entry))
      }
      for entry in part.deleted { try writer.add(.deleted(entry)) }
    } catch { throw ODataRefusal(error) }
    if part.isLast {
      var end = head
      end.next = try part.token.map { token throws(ODataRefusal) in try work.nextLink(token) }
      if end.next == nil, let mark = rows.mark { end.delta = try work.changesLink(mark) }
      do throws(ODataError) { try writer.end(end) } catch { throw ODataRefusal(error) }
      isEnded = true
    }
    return writer.take()
  }

  func next() async -> HTTPBodyPiece {
    if !ready.isEmpty {
      defer { ready = [] }
      return .bytes(ready)
    }
    guard !isEnded else { return .end }
    // A feed that cannot go on is cut, so that nobody takes it for whole.
    do throws(ODataRefusal) { return .bytes(try await piece()) } catch { return .abort }
  }
}
