import FerryHTTP
import Testing

@testable import FerryServer

@Suite("Every route asks who comes", .timeLimit(.minutes(60)))
struct RouteTests {
  private static var ofUsers: [Route] {
    Route.all.filter { if case .user = $0.access { true } else { false } }
  }

  @Test(
    "Who may no longer synchronize is refused at every route of users", arguments: Ending.allCases)
  func ended(_ ending: Ending) async throws {
    let bench = try await DoorBench()
    #expect(RouteTests.ofUsers.count >= 6)
    for route in RouteTests.ofUsers {
      let answer = await bench.host.answer(try bench.request(route.method, route.path))
      #expect(![401, 403, 503].contains(answer.status), "\(route.path) serves before")
    }
    try await bench.end(ending)
    for route in RouteTests.ofUsers {
      let answer = await bench.host.answer(try bench.request(route.method, route.path))
      #expect(
        answer.status == (ending == .locked ? 403 : 401), "\(route.path) answers \(answer.status)")
    }
    await bench.stop()
  }

  @Test("Without a token, or the operator's key, only what everybody may ask is answered")
  func strangers() async throws {
    let bench = try await DoorBench()
    for route in Route.all {
      var request = try bench.request(route.method, route.path)
      if case .user = route.access { request.headers = [:] }
      let isOpen = if case .anybody = route.access { true } else { false }
      #expect(isOpen == ![401].contains(await bench.host.answer(request).status), "\(route.path)")
      if case .refuse = bench.host.admit(request) {
        #expect(!isOpen, "\(route.path)")
      } else {
        #expect(isOpen, "\(route.path)")
      }
    }
    await bench.stop()
  }

  @Test("A path is one route or none")
  func paths() {
    for route in Route.all {
      let path = route.path.hasSuffix("/") ? route.path + "a/b" : route.path
      let request = HTTPRequest(method: route.method ?? .post, path: path)
      #expect(Route.all.filter { $0.isMeant(by: request) }.map(\.path) == [route.path])
      let other = HTTPRequest(method: route.method ?? .post, path: path + "%20")
      #expect(
        Route.all.filter { $0.isMeant(by: other) }.count == (route.path.hasSuffix("/") ? 1 : 0))
    }
  }
}
