import FerryHTTP
import FerryODataFace
import FerryWorld
import Foundation
import Synchronization
import Testing

/// A loop of a server, which counts how often it has something to do.
private final class CountingLoop: TaskExecutor {
  private let thread = ThreadExecutor(name: "test-loop")
  let jobs = Atomic<Int>(0)

  func enqueue(_ job: consuming ExecutorJob) {
    jobs.add(1, ordering: .relaxed)
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    thread.perform { [self] in
      withExtendedLifetime(self) { job.runSynchronously(on: executor) }
    }
  }
}

@Suite("Requests beside others", .timeLimit(.minutes(60)))
struct SharingTests {
  @Test("Answers and feeds are computed beside the loop of the server") func loop() async throws {
    let desk = try await TravelDesk(mine: 40, others: 0)
    let login = "Basic " + Data("nancy:secret".utf8).base64EncodedString()
    let request = HTTPRequest(
      method: .get, path: "/odata/travel/v4/Bookings", query: "$expand=flight&$orderby=passenger",
      headers: ["Host": "h", "Authorization": login], peer: "10.0.0.1")
    let loop = CountingLoop()
    let face = desk.face
    let answer = Task(executorPreference: loop) { await face.answer(request) }
    #expect(await answer.value.status == 200)
    // It begins there, and ends there.
    #expect(loop.jobs.load(ordering: .relaxed) <= 2)
    await desk.server.stop()
  }

  @Test("Too many requests of one user at once are refused, and those of others are not")
  func tooMany() async throws {
    let desk = try await TravelDesk(shares: FaceShares(requestsPerUser: 1))
    desk.server.holdReplays()
    let tag = try #require((await desk.get("Bookings(1)")).headers["ETag"])
    let waiting = Task {
      var answer: TravelDesk.Answer
      repeat {
        answer = await desk.send(
          .patch, "Bookings(1)", ["If-Match": tag], #"{"passenger":"Later"}"#)
        await Task.yield()
      } while answer.status == 429
      return answer
    }
    var refused: TravelDesk.Answer?
    while refused == nil {
      let answer = await desk.get("Bookings")
      if answer.status == 429 { refused = answer }
      await Task.yield()
    }
    #expect(refused?.code == "tooManyRequests" && refused?.headers["Retry-After"] == "1")
    #expect((await desk.get("Bookings", user: "bob")).status == 200)
    desk.server.releaseReplays()
    #expect(await waiting.value.status == 204)
    #expect((await desk.get("Bookings")).status == 200)
    await desk.server.stop()
  }

  @Test("A request that was first sent too long ago is refused") func firstSent() async throws {
    let desk = try await TravelDesk()
    let id = "6f2d1f0e-0c1b-4a65-9a0f-2c8f6a3f9d11"
    let body = #"{"agencyID":"A07","flightID":318,"passenger":"Old","cabin":"first","seats":1}"#
    for (text, status) in [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 412), ("yesterday", 400),
    ] {
      let headers: HTTPHeaders = [
        "Repeatability-Request-ID": id, "Repeatability-First-Sent": text,
      ]
      let answer = await desk.send(.post, "Bookings", headers, body)
      #expect(answer.status == status, "\(answer.text)")
    }
    await desk.server.stop()
  }
}
