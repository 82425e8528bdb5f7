import Dispatch
import FerryTestKit
import FerryTravel
import Foundation
import Testing

@testable import Ferry

@Suite("Relationships that do not block their caller", .timeLimit(.minutes(60)))
struct AsyncRelationshipTests {
  private let server: TestServer
  private let database: FerryDatabase

  init() async throws {
    server = try await TestServer.withFlight()
    for (key, passenger) in [(1, "Ada"), (2, "Grace")] as [(Int64, String)] {
      try await server.insert(
        Booking.self,
        [
          "bookingID": key, "agencyID": "A07", "flightID": 318, "passenger": passenger,
          "cabin": "economy", "seats": 1,
        ])
    }
    database = try await server.database(user: "nancy", claims: ["agency": ["A07"]])
  }

  /// An actor of the app, which calls Ferry and does other work.
  private actor Desk {
    private(set) var steps: [String] = []

    func note(_ step: String) { steps.append(step) }

    func follow(_ flight: Flight) async throws {
      steps.append("begun")
      steps += try await flight.bookings().map(\.passenger)
    }

    func follow(_ booking: Booking) async throws {
      steps.append("begun")
      steps.append(try await booking.flight()?.title ?? "none")
    }

    /// Follows references while another job of this actor waits.
    func followAhead(of other: String, _ booking: Booking) async throws {
      let waiting = Task { note(other) }
      for beside in try await booking.flight()?.bookings() ?? [] { steps.append(beside.passenger) }
      await waiting.value
    }
  }

  @Test("The caller's actor works on while another thread reads what a relationship leads to")
  func unblocked() async throws {
    let flight = try await Flight.load(318, in: database)
    let booking = try await Booking.load(1, in: database)
    for isBack in [true, false] {
      let (held, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let store = database.store
      let holders = (0..<WorkThreads.readerLimit).map { _ in
        Task {
          try await store.work.read { () throws(FerryError) in
            held.signal()
            free.wait()
          }
        }
      }
      await withCheckedContinuation { continuation in
        Thread {
          for _ in holders { held.wait() }
          continuation.resume()
        }.start()
      }
      let desk = Desk()
      let reading = Task {
        if isBack { try await desk.follow(flight) } else { try await desk.follow(booking) }
      }
      while await desk.steps.isEmpty { await Task.yield() }
      await desk.note("other work")
      for _ in holders { free.signal() }
      try await reading.value
      for holder in holders { try await holder.value }
      #expect(
        await desk.steps
          == ["begun", "other work"] + (isBack ? ["Ada", "Grace"] : ["LH 400, FRA to JFK"]))
    }
    await server.stop()
  }

  @Test("What was prefetched is returned without leaving the caller's actor")
  func prefetched() async throws {
    let way = Booking.Attributes.flight.then(Flight.Attributes.bookings)
    let booking = try await Booking.load(1, prefetching: [way], in: database)
    let desk = Desk()
    try await desk.followAhead(of: "other work", booking)
    #expect(await desk.steps == ["Ada", "Grace", "other work"])
    await server.stop()
  }

  @Test("A cancelled task follows what was prefetched, and reads nothing")
  func cancelled() async throws {
    let alone = try await Booking.load(1, in: database)
    let together = try await Booking.load(
      1, prefetching: [Booking.Attributes.flight], in: database)
    let task = Task { () async throws -> (Int64?, FerryError.Code?, FerryError.Code?) in
      withUnsafeCurrentTask { $0?.cancel() }
      let flight = try #require(try await together.flight())
      var codes: [FerryError.Code?] = [nil, nil]
      do throws(FerryError) { _ = try await alone.flight() } catch { codes[0] = error.code }
      do throws(FerryError) { _ = try await flight.bookings() } catch { codes[1] = error.code }
      return (flight.flightID.assigned, codes[0], codes[1])
    }
    let (flight, there, back) = try await task.value
    #expect(flight == 318 && there == .cancelled && back == .cancelled)
    await server.stop()
  }

  @Test("A transaction takes the synchronous form, and sees its own changes")
  func transaction() async throws {
    let names = try await database.transaction { () throws(FerryError) -> [String] in
      var new = Booking(
        agencyID: "A07", flightID: 318, passenger: "Linus", cabin: .economy, seats: 1,
        in: database)
      try new.save(.later)
      return try new.flight()?.bookings().map(\.passenger) ?? []
    }
    #expect(names == ["Ada", "Grace", "Linus"])
    await server.stop()
  }
}
