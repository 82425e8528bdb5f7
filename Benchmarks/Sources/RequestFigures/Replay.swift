import FerryConnector
import FerryHTTPClient
import FerryModel
import FerryRESTConnector
import FerryWorld
import Glibc

/// Creates at a service of REST that takes 5 ms for each, on 16 connections.
enum Replay {
  private static let connections = 16

  private static let item = Entity(
    name: "Item", table: "items",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "name", column: "name", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem, relationships: [], operations: [.create],
    partition: nil, group: "all")

  private static let package = Package(
    name: "Shop", version: "1.0", entities: [item], groups: [SynchronizationGroup(name: "all")])

  private static let mapping = """
    {"entities": {"Item": {"list": "/slow", "read": "/slow/{id}", "create": "/slow",
      "memory": {"header": "Idempotency-Key"}, "condition": "none"}}}
    """

  /// Operations a second; the limit is the same number of requests by the transport alone.
  static func run(_ count: Int) async throws {
    let peer = Peer(pages: [], metadata: [])
    var options = TransportOptions()
    options.connectionsPerHost = connections
    let transport = SystemTransport.make(options)
    let address = String(peer.root.dropLast())
    let connection = try RESTConnection(
      address, mapping: try RESTMapping(Array(mapping.utf8), for: package), folder: "/",
      world: .system(), transport: transport, requests: connections)
    let chains = (0..<count).map { [operation($0)] }
    let thread = ThreadExecutor(name: "replay")
    var seconds = [[Double]](repeating: [], count: 2)
    for _ in 0..<5 {
      let ours = await ContinuousClock().measure {
        let done = await thread.run { () -> Int in
          let connector = RESTConnector(connection, package: package)
          // As many at a time as the server hands out.
          var done = 0
          for start in stride(from: 0, to: chains.count, by: 64) {
            let part = Array(chains[start..<min(start + 64, chains.count)])
            done += connector.perform(part) { true }.count(where: isAccepted)
          }
          return done
        }
        guard done == count else {
          print("\(done) of \(count) were accepted")
          exit(1)
        }
      }
      seconds[0].append(ours / .seconds(1))
      seconds[1].append(try await bare(count, "\(address)/slow", transport) / .seconds(1))
    }
    let medians = seconds.map { Double(count) / $0.sorted()[2] }
    print(medians[0], medians[1])
  }

  private static func isAccepted(_ result: PerformResult) -> Bool {
    guard case .done(let outcomes, _) = result, case .accepted? = outcomes.first else {
      return false
    }
    return true
  }

  private static func bare(
    _ count: Int, _ url: String, _ transport: any Transport
  ) async throws -> Duration {
    try await ContinuousClock().measure {
      try await withThrowingTaskGroup(of: Int.self) { group in
        for line in 0..<connections {
          group.addTask {
            var done = 0
            for _ in stride(from: line, to: count, by: connections) {
              var request = TransportRequest(url: url, method: .post)
              request.headers["Content-Type"] = "application/json"
              request.body = Array(#"{"name":"an item"}"#.utf8)
              _ = try await transport.send(request).body.collect()
              done += 1
            }
            return done
          }
        }
        var done = 0
        for try await part in group { done += part }
        guard done == count else { exit(1) }
      }
    }
  }

  private static func operation(_ number: Int) -> ConnectorOperation {
    let digits = String(number, radix: 16)
    guard let id = OperationID(String(repeating: "0", count: 32 - digits.count) + digits) else {
      preconditionFailure("32 digits are an id")
    }
    return ConnectorOperation(
      id: id, entity: item, kind: .create, key: nil, changed: [1: .text("item \(number)")],
      base: [:])
  }
}
