import FerryCertificates
import FerryLogger
import FerryODataCache
import FerryPersistence
import FerryPreferences
import FerryTestTraits
import FerryTrace
import FerryVault
import FerryWorld
import Foundation
import Testing

/// One row of the table of errors.
private struct ErrorRow {
  let domain: String
  let number: Int
  let name: String
  let cause: String
  let cure: String

  var line: String { "| \(domain) | \(number) | `\(name)` | \(cause) | \(cure) |" }
}

private func rows<Code: NumberedCode>(_ domain: String, _ code: Code.Type) -> [ErrorRow] {
  code.allCases.map {
    ErrorRow(domain: domain, number: $0.rawValue, name: $0.name, cause: $0.cause, cure: $0.cure)
  }
}

@Suite("The errors of the device kit")
struct ErrorTableTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Documentation/KitErrors.md")

  private var all: [ErrorRow] {
    let vault = DataVaultError.Reason.allCases.filter { $0 != .incompatiblePassword }.map {
      ErrorRow(
        domain: "FerryVault", number: $0.code, name: $0.name, cause: $0.cause, cure: $0.hint)
    }
    let violations = PasswordViolation.allCases.map { violation in
      ErrorRow(
        domain: "FerryVault", number: violation.rawValue, name: violation.name,
        cause: "IncompatiblePassword: \(violation.sentence).",
        cure: DataVaultError.Reason.incompatiblePassword.hint)
    }
    let cache = ODataCacheError.Reason.allCases.map {
      ErrorRow(
        domain: "FerryODataCache", number: $0.rawValue, name: $0.name, cause: $0.cause,
        cure: $0.hint)
    }
    let trace = TraceError.Code.allCases.map {
      ErrorRow(
        domain: TraceError.domain, number: $0.rawValue, name: $0.referenceName, cause: $0.cause,
        cure: $0.cure)
    }
    return (vault + violations).sorted { $0.number < $1.number }
      + rows("FerryPersistence", PersistenceError.Reason.self) + cache
      + rows(PreferencesError.domain, PreferencesError.Code.self)
      + rows(LogError.domain, LogError.Code.self) + trace
      + rows(CertificateError.domain, CertificateError.Code.self)
  }

  private var page: String {
    """
    # Errors of the device kit

    Every number of each part. An error is known by its domain and its number together: two parts may use one number. The error itself says which object it is about. `ErrorTableTests` makes this page; to write it anew, run `FERRY_WRITE_TABLES=1 swift test --filter ErrorTableTests`.

    | domain | number | name | cause | cure |
    | --- | --- | --- | --- | --- |
    \(all.map(\.line).joined(separator: "\n"))

    """
  }

  @Test(
    "The page has each number with domain, name, cause and cure, and none twice",
    .reference("adr/EXC-1", "adr/EXC-4", "adr/DVT-16")
  )
  func table() throws {
    #expect(Set(all.map { "\($0.domain) \($0.number)" }).count == all.count)
    #expect(
      all.allSatisfy { !$0.name.isEmpty && $0.cause.hasSuffix(".") && $0.cure.hasSuffix(".") })
    #expect(Set(all.map(\.domain)).count == 7)
    if ProcessInfo.processInfo.environment["FERRY_WRITE_TABLES"] != nil {
      try Data(page.utf8).write(to: Self.file)
    }
    #expect(try String(contentsOf: Self.file, encoding: .utf8) == page)
  }

  @Test(
    "Each part has one root error with its number, its name and what to do",
    .reference("adr/EXC-1", "adr/EXC-2"))
  func roots() {
    let vault = DataVaultError(.locked, "vault v is locked")
    #expect(vault.code == 8)
    #expect("\(vault)" == "LOCKED (8): vault v is locked. Unlock the vault first.")
    let store = PersistenceError(.keyMissing, "no key for /a")
    #expect(store.code == 200)
    #expect("\(store)".hasPrefix("keyMissing (200): no key for /a. Give the key"))
    let cache = ODataCacheError(.noID, "an entry of Flights")
    #expect(cache.code == 302 && "\(cache)".hasPrefix("noID (302): an entry of Flights. Give"))
    let error = #expect(throws: TraceError.self) {
      try TraceController(world: .system()).stop()
    }
    #expect(error?.code.rawValue == 1 && error?.hint == "Call start first.")
    #expect(error?.description.hasPrefix("FerryTrace 1 notStarted: ") == true)
  }
}
