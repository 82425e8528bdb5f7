import FerryHTTP
import FerryProxy
import FerryTestSupport
import Foundation
import Testing

@Suite("A gateway file that changes", .serialized)
struct ChangeTests {
  private static func makeService() -> RawService {
    RawService { socket, next in
      while next() != nil { write(socket, "HTTP/1.1 204 No Content\r\n\r\n") }
    }
  }

  private static func backEnd(_ name: String, _ port: Int, path: String = "odata") -> BackEnd {
    BackEnd(name: name, address: "http://127.0.0.1:\(port)/\(path)/", networks: [.loopback])
  }

  @Test("Services come and go, and one that stays keeps its connection")
  func services() async throws {
    let service = Self.makeService()
    let flights = Self.backEnd("flights", service.port)
    let door = try LiveDoor([flights, Self.backEnd("hotels", service.port, path: "h")])
    let address = "https://gate.example.com"
    #expect(try await door.send("/flights/x").status == 204)
    #expect(try await door.send("/hotels/x").status == 204)
    #expect(service.connections == 2)
    try door.gateway.change(
      to: GatewayFile(door: address, services: [flights, Self.backEnd("cars", service.port)]))
    #expect(try await door.send("/flights/x").status == 204)
    #expect(service.connections == 2)
    #expect(try await door.send("/hotels/x").status == 404)
    #expect(try await door.send("/cars/x").status == 204)
    // The same name with another address is another service.
    try door.gateway.change(
      to: GatewayFile(
        door: address, services: [Self.backEnd("flights", service.port, path: "other")]))
    #expect(try await door.send("/flights/x").status == 204)
    #expect(service.requests.last?.hasPrefix("GET /other/x ") == true)
    #expect(throws: GatewayError.self) {
      try door.gateway.change(to: GatewayFile(door: "https://other.example.com", services: []))
    }
    #expect(try await door.send("/flights/x").status == 204)
    door.live.stop()
    service.end()
  }

  @Test("A request under way ends at the service where it began")
  func underWay() async throws {
    let isOpen = Mutexed(false)
    let service = RawService { socket, next in
      while next() != nil {
        let patience = Patience()
        while !isOpen.value.withLock({ $0 }), patience.lasts() {}
        write(socket, "HTTP/1.1 204 No Content\r\n\r\n")
      }
    }
    let door = try LiveDoor([Self.backEnd("flights", service.port)])
    let slow = Task { try await door.send("/flights/x").status }
    let patience = Patience()
    while service.requests.isEmpty, await patience.lasts() {}
    try door.gateway.change(
      to: GatewayFile(
        door: "https://gate.example.com", services: [Self.backEnd("cars", service.port)]))
    #expect(try await door.send("/flights/x").status == 404)
    isOpen.value.withLock { $0 = true }
    #expect(try await slow.value == 204)
    door.live.stop()
    service.end()
  }
}
