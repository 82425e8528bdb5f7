import Ferry
import FerryReference
import FerryWire
import Synchronization
import Testing

@testable import Ferry

/// An app whose callbacks wait for its actor.
private final class Clerk: CallbackHandler {
  actor Desk {}
  let desk = Desk()
  let lines = Mutex<[String]>([])

  private func hear(_ line: String) {
    desk.preconditionIsolated()
    lines.withLock { $0.append(line) }
  }

  func onConnect() { hear("connect") }
  func onImportProgress(_ progress: ImportProgress) { hear("\(progress.receivedRows) rows") }
  func onBigValueProgress(_ progress: BigValueProgress) {
    hear("\(progress.key): \(progress.doneBytes)/\(progress.sizeBytes)")
  }
}

@Suite("A long download")
struct ProgressTests {
  private let device: Device
  private let shore = Shore(Shop.package)

  init() throws {
    device = try Device().loggedIn()
    shore.pageRows = 2
    for id in 1...6 {
      shore.put(Order.entity, [.integer(Int64(id)), .text("ALFKI"), .text("Bremen"), .null])
    }
  }

  private func answer() throws -> (SessionRequest, [Message]) {
    let request = try #require(try device.request())
    return (request, try shore.respond(to: request.body))
  }

  @Test("A download goes on where it was stopped, and its progress with it, over a restart too")
  func resumes() throws {
    let (request, messages) = try answer()
    device.session.received(status: 200, on: request.lane)
    for message in messages.prefix(3) {
      try device.session.received(message.frame.encoded(), on: request.lane)
    }
    #expect(device.handler.progress.map(\.receivedRows) == [2, 4])
    #expect(device.handler.progress.map(\.expectedRows) == [6, 6])
    #expect(try device.orders().isEmpty)
    try device.restart()
    try device.exchange(shore)
    #expect(device.handler.progress.map(\.receivedRows) == [2, 4, 6])
    let last = try #require(device.handler.progress.last)
    #expect(last.fraction == 1)
    #expect(last.expectedBytes == last.receivedBytes)
    #expect(try device.orders().count == 6)
  }

  @Test("Of a big value each percent is told once, and its end", arguments: [0, 1, 99, 20 << 20])
  func percents(size: Int64) {
    var told: [Int64] = []
    var before: Int64?
    for done in stride(from: 0, through: size, by: max(1, Int(size) / 1_000)) {
      let progress = photo(1, Int64(done), of: size)
      if progress.isWorthTelling(after: before) { told.append(progress.doneBytes) }
      before = progress.doneBytes
    }
    if before != size, photo(1, size, of: size).isWorthTelling(after: before) { told.append(size) }
    #expect(told.first == 0 && told.last == size)
    #expect(told.count == min(101, Int(size) + 1))
  }

  @Test("An app slower than the line hears the last of each value, and after what came before it")
  func slowApp() async throws {
    let observers = Observers()
    let clerk = Clerk()
    observers.register(clerk, on: clerk.desk)
    for done: Int64 in [0, 5, 9] {
      observers.tell(photo(1, done, of: 10))
      observers.tell(photo(2, done, of: 10))
      observers.tell(ImportProgress(receivedRows: Int(done)))
    }
    observers.tell(.connected)
    observers.tell(photo(1, 10, of: 10))
    try await observers.deliver(of: device.store)
    #expect(
      clerk.lines.withLock { $0 } == ["1: 9/10", "2: 9/10", "9 rows", "connect", "1: 10/10"])
  }

  @Test(
    "Who follows a value and is slower than the line sees the last, and the end with the database")
  func followers() async throws {
    let board = device.store.progress
    let followed = board.follow(entity: "Photo", object: 1, attribute: "image")
    let other = board.follow(entity: "Photo", object: 2, attribute: "image")
    for done: Int64 in [0, 5, 9] { board.post(photo(1, done, of: 10)) }
    device.store.close()
    var seen: [Int64] = []
    for await progress in followed { seen.append(progress.doneBytes) }
    #expect(seen == [9])
    for await _ in other { Issue.record("another object's progress was told") }
    for await _ in board.follow(entity: "Photo", object: 1, attribute: "image") {
      Issue.record("a closed database tells nothing")
    }
    #expect(board.followers == 0)
  }

  private func photo(_ object: Int64, _ done: Int64, of size: Int64) -> BigValueProgress {
    BigValueProgress(
      direction: .upload, entity: "Photo", key: ObjectKey(text: "\(object)"), surrogateKey: object,
      attribute: "image", doneBytes: done, sizeBytes: size)
  }

  @Test("What comes after an import is counted from 0, and how much it is nobody knows")
  func delta() throws {
    try device.exchange(shore)
    shore.put(Order.entity, [.integer(7), .text("ALFKI"), .text("Oslo"), .null])
    try device.exchange(shore)
    let last = try #require(device.handler.progress.last)
    #expect(last.receivedRows == 1)
    #expect(last.fraction == nil)
  }

  @Test("A server is not taken for silent while its rows are imported")
  func busy() throws {
    let (request, messages) = try answer()
    let clock = device.clock
    device.handler.whenTold.withLock { $0 = { clock.advance(60_000) } }
    device.session.received(status: 200, on: request.lane)
    for message in messages.dropLast() {
      try device.session.received(message.frame.encoded(), on: request.lane)
      guard case .wait = try device.session.next() else {
        Issue.record("the exchange was given up")
        return
      }
    }
  }
}
