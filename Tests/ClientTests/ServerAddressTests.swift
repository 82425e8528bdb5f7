import Ferry
import FerryTravel
import Foundation
import Testing

@testable import Ferry

@Suite("The server's address in a profile")
struct ServerAddressTests {
  private func code(_ server: String, insecure: Bool = false) async -> FerryError.Code? {
    let path = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString).db"
    ).path
    defer {
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }
    do throws(FerryError) {
      try await Travel.open(
        at: path,
        profile: ConnectionProfile(
          server: server, allowsInsecureHTTP: insecure)
      ).close()
      return nil
    } catch {
      #expect(error.description.contains("http://"))
      #expect(!FileManager.default.fileExists(atPath: path), "nothing is made for it")
      return error.code
    }
  }

  @Test(
    "One without a scheme, with another one or without a host is refused when the database is opened",
    arguments: [
      "127.0.0.1:8765", "ferry.example.com", "ftp://ferry.example.com", "http://", "https:///sales",
      "", "http:ferry", "http://:80", "http://127.0.0.1:99999", "http://127.0.0.1:0",
      "http://[::1]:65536", "http://127.0.0.1:http",
    ])
  func refused(server: String) async { #expect(await code(server) == .badAddress) }

  @Test("An empty path is refused, and the error says so")
  func noPath() {
    let error = #expect(throws: FerryError.self) {
      try Travel.open(at: "", profile: ConnectionProfile(server: "http://127.0.0.1"))
    }
    #expect(error?.message == "The path of the database is empty")
  }

  @Test(
    "http to another machine, or to what only looks like this one, is refused until it is allowed",
    arguments: [
      "http://ferry.example.com", "HTTP://10.0.0.7:8765", "http://127.0.0.1.example.com",
      "http://127.0.0.1@example.com", "http://127.0.0.1:80@example.com", "http://localhost.example",
      "http://example.com#@127.0.0.1", "http://example.com?127.0.0.1", "http://[::1].example.com",
      "http://127.1", "http://0.0.0.0:80",
    ])
  func insecure(server: String) async {
    #expect(await code(server) == .badAddress)
    #expect(await code(server, insecure: true) == nil)
  }

  @Test(
    "One with scheme and host is taken",
    arguments: [
      "http://127.0.0.1:8765", "https://ferry.example.com/sales/", "HTTP://[::1]:80",
      "http://localhost:8765", "http://127.0.0.1", "https://ferry.example.com:65535/sales",
      "https://ferry.example.com:", "https://[2001:db8::1]/sales",
    ])
  func taken(server: String) async { #expect(await code(server) == nil) }
}
