import Ferry
import FerryReference
import FerryTestKit
import Foundation
import Testing

@Suite("Calls that do not block their caller", .timeLimit(.minutes(60)))
struct AsyncFormTests {
  private typealias Customer = Trade.Customer
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await Trade.server()
    database = try await server.database(user: "nancy")
    database.submitsAutomatically = false
  }

  private func named(_ name: String) -> TestOf<Customer> {
    AttributeOf<Customer, String>("name", 1) == name
  }

  /// A new customer, saved and not submitted.
  private func draft(_ name: String) throws -> Customer {
    var customer = Trade.customer(name, in: database)
    try customer.create()
    return customer
  }

  @Test("find, first and rows see what is saved, in the order that is asked for")
  func reading() async throws {
    for name in ["Cy", "Ben"] { _ = try draft(name) }
    let order = [SortCriteria.ascending(AttributeOf<Customer, String>("name", 1))]
    #expect(
      try await Customer.find(orderBy: order, in: database).map(\.name) == ["Ada", "Ben", "Cy"])
    #expect(
      try await Customer.find(orderBy: order, skip: 1, take: 1, in: database).map(\.name) == ["Ben"]
    )
    #expect(try await Customer.find(named("Cy"), in: database).map(\.name) == ["Cy"])
    #expect(
      try await Customer.find(RowQuery(from: Customer.self).take(1), in: database).count == 1)
    #expect(try await Customer.first(named("Ben"), in: database)?.name == "Ben")
    #expect(try await Customer.first(named("Dan"), in: database) == nil)
    let rows = try await database.rows(sql: "SELECT name FROM Customer WHERE name < ?", "Cy")
    #expect(Set(rows.map { $0.get(0, as: String.self) }) == ["Ada", "Ben"])
    #expect(try await database.rows(RowQuery(from: Customer.self)).map { _ in 1 }.count == 3)
    await #expect { try await Customer.find(take: -1, in: database) } throws: {
      ($0 as? FerryError)?.code == .invalidQuery
    }
    await server.stop()
  }

  @Test("A draft is submitted, accepted, and returned as the business system made it")
  func accepted() async throws {
    let draft = try draft("Ben")
    await #expect { try await database.outcome(of: draft, within: .seconds(600)) } throws: {
      ($0 as? FerryError)?.code == .notSubmitted
    }
    #expect(server.rows(of: Customer.self).count == 1)
    let sent = try await database.submit(draft)
    #expect(sent.isPending)
    guard case .accepted(let made?) = try await database.outcome(of: sent, within: .seconds(600))
    else {
      Issue.record("not accepted")
      return
    }
    #expect(made.id == 2 && !made.isPending)
    #expect(try await database.refresh(draft).id == 2)
    // Nothing is pending any more: the same call changes nothing.
    #expect(try await database.submit(made) == made)
    await server.stop()
  }

  @Test("A new object is neither submitted nor refreshed; the error says what to call first")
  func unsaved() async throws {
    let new = Trade.customer("Ben", in: database)
    await #expect { try await database.submit(new) } throws: {
      ($0 as? FerryError)?.code == .objectNotSaved
    }
    await #expect { try await database.refresh(new) } throws: {
      ($0 as? FerryError)?.code == .objectNotFound
    }
    #expect(try await database.cancel(new) == nil)
    await server.stop()
  }

  @Test("A refusal has code and message; cancel returns what the business system has")
  func refused() async throws {
    server.refuse(Customer.self, of: [.update], code: 409, "Names do not change.")
    var ada = try #require(try await Customer.first(in: database))
    ada.name = "Eve"
    try ada.update()
    let sent = try await database.submit(ada)
    let refusal = Ferry.Refusal(code: 409, message: "Names do not change.")
    guard case .refused(refusal) = try await database.outcome(of: sent, within: .seconds(600))
    else {
      Issue.record("not refused")
      return
    }
    #expect(try await database.refusal(of: sent) == refusal)
    let cancelled = try #require(try await database.cancel(sent))
    #expect(cancelled.name == "Ada" && !cancelled.isPending)
    #expect(try await database.refusal(of: cancelled) == nil)
    // The create of a new object leaves nothing.
    #expect(try await database.cancel(draft("Ben")) == nil)
    #expect(try await Customer.find(in: database).count == 1)
    await server.stop()
  }

  @Test("A conflict names the attribute, the value of this device and the other one")
  func conflict() async throws {
    var ada = try #require(try await Customer.first(in: database))
    try await server.change(ada, ["name": "Anna"])
    ada.name = "Eve"
    try ada.update()
    guard
      case .refused(let refusal) = try await database.outcome(
        of: database.submit(ada), within: .seconds(600))
    else {
      Issue.record("not refused")
      return
    }
    #expect(
      refusal.conflict == Conflict(attribute: "name", mine: .text("Eve"), theirs: .text("Anna")))
    #expect(refusal.code == 412 && refusal.attribute == "name")
    // Take theirs.
    #expect(try await database.cancel(ada)?.name == "Anna")
    await server.stop()
  }

  @Test("A limit that ends is a result: the change waits, and the next call has the answer")
  func stillWaiting() async throws {
    server.holdReplays()
    let sent = try await database.submit(draft("Ben"))
    guard case .stillWaiting = try await database.outcome(of: sent, within: .milliseconds(1)) else {
      Issue.record("answered")
      return
    }
    server.releaseReplays()
    guard case .accepted = try await database.outcome(of: sent, within: .seconds(600)) else {
      Issue.record("not accepted")
      return
    }
    await server.stop()
  }

  /// An actor of the app, which calls Ferry and does other work.
  private actor Desk {
    private let database: FerryDatabase
    private(set) var steps: [String] = []

    init(_ database: FerryDatabase) { self.database = database }

    func submit(_ draft: Trade.Customer) async throws {
      steps.append("begun")
      try await database.submit(draft)
      steps.append("ended")
    }
    func note(_ step: String) { steps.append(step) }
  }

  @Test("The caller's actor works on while another thread has the database")
  func unblocked() async throws {
    let draft = try draft("Ben")
    let (held, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let store = database.store
    let holder = Thread {
      try? store.write { _ throws(FerryError) in
        held.signal()
        free.wait()
      }
    }
    holder.start()
    await withCheckedContinuation { continuation in
      Thread {
        held.wait()
        continuation.resume()
      }.start()
    }
    let desk = Desk(database)
    let submit = Task { try await desk.submit(draft) }
    while await desk.steps.isEmpty { await Task.yield() }
    await desk.note("other work")
    // A read waits for no save.
    #expect(try await Trade.Customer.find(in: database).count == 2)
    free.signal()
    try await submit.value
    #expect(await desk.steps == ["begun", "other work", "ended"])
    await server.stop()
  }

  @Test("A cancelled task reads nothing, and what it saves is saved")
  func cancelledTask() async throws {
    let draft = try draft("Ben")
    let database = database
    let task = Task { () throws -> (FerryError.Code?, Bool) in
      withUnsafeCurrentTask { $0?.cancel() }
      var code: FerryError.Code?
      do throws(FerryError) { _ = try await Trade.Customer.find(in: database) } catch {
        code = error.code
      }
      return (code, try await database.submit(draft).isPending)
    }
    let (code, isPending) = try await task.value
    #expect(code == .cancelled)
    #expect(isPending)
    #expect(try Customer.countReplayPendingObjects(in: database) == 1)
    await server.stop()
  }
}
