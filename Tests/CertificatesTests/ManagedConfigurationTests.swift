import FerryCertificates
import FerryTestTraits
import Foundation
import Testing

@Suite("Configuration by device management")
struct ManagedConfigurationTests {
  @Test(
    "What the system has for the app names the server; an app that is not managed has none",
    .reference("ios/AFA-1", "adr/AFA-1")
  )
  func current() throws {
    let suite = "ferry-managed-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: suite))
    defer { defaults.removePersistentDomain(forName: suite) }
    #expect(ManagedConfiguration.current(in: defaults) == nil)
    defaults.set(
      [
        "Server": "https://ferry.example.com", "port": 443, "Farm ID": "f1", "log": true,
        "list": [1, 2],
      ], forKey: ManagedConfiguration.key)
    let found = try #require(ManagedConfiguration.current(in: defaults))
    // A value with colons is whole here, unlike in a line of a seed file.
    #expect(found.connection.serverName == "https://ferry.example.com")
    #expect(found.connection.portNumber == 443 && found.connection.farmID == "f1")
    #expect(found.connection.urlSuffix == nil)
    #expect(found.values["log"] == "1")
    #expect(found.values["list"] == nil && found.values.count == 4)
  }

  @Test("A port that is none is left out")
  func ports() {
    for port: Any in [0, 65_536, -1, "x", ""] {
      #expect(ManagedConfiguration(["Port": port]).connection.portNumber == nil)
    }
    #expect(ManagedConfiguration(["PORT": "65535"]).connection.portNumber == 65_535)
  }
}
