import FerryServer
import FerryTestTraits
import Foundation
import Testing

@testable import FerrySecurity

@Suite("The file of security configurations")
struct SecurityFileTests {
  private struct Nobody: AuthenticationProvider {
    func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
      throw .wrongLogin
    }
    func record(of user: String) -> UserRecord? { nil }
  }

  private static let sources = SecurityFile.Sources(userFile: Nobody()) { _ in Nobody() }

  private func read(_ text: String) throws(ServerError) -> SecurityFile {
    try SecurityFile(Array(text.utf8), name: "s.json", Self.sources)
  }

  private func problem(_ text: String) -> String? {
    do throws(ServerError) {
      _ = try read(text)
      return nil
    } catch { return error.message }
  }

  @Test("A whole file", .reference("facts/2.9"))
  func whole() throws {
    let file = try read(
      """
      {"configurations": [
        {"name": "company", "providers": [
          {"type": "userFile", "flag": "sufficient"},
          {"type": "ldap", "flag": "required", "servers": ["ldaps://a", "ldap://b"],
           "startTLS": true, "trust": "ca.pem", "user": "cn=ferry", "password": "p",
           "base": "ou=people,dc=x", "filter": "(&(uid={user})(objectClass=person))",
           "groups": {"base": "ou=groups,dc=x", "filter": "(member={dn})", "attribute": "cn"},
           "seconds": 3}]},
        {"name": "partners", "domain": "abroad", "cacheSeconds": 0, "providers": [
          {"type": "http", "address": "https://login.example.com/", "cookie": "MYSAPSSO2",
           "rolesField": "X-Roles", "successStatus": 204},
          {"type": "certificate", "authorities": "ca.pem", "flag": "optional"},
          {"type": "anonymous", "flag": "optional", "roles": ["guest"]}]}],
       "roles": {"abroad": {"Travel": {"sales": ["s1", "s2"], "admin": "NONE", "x": "AUTO"}}}}
      """)
    #expect(file.configurations.map(\.name) == ["company", "partners"])
    #expect(file.configurations.map(\.memory) == [.seconds(3_600), .zero])
    #expect(file.configurations[0].stack.entries.map(\.flag) == [.sufficient, .required])
    #expect(
      file.configurations[1].stack.entries.map(\.module.kind) == [
        "http", "certificate", "anonymous",
      ])
    #expect(
      file.roles == [
        "abroad": ["Travel": ["sales": .roles(["s1", "s2"]), "admin": .none, "x": .auto]]
      ])
  }

  @Test("What is wrong is named with its place, and what is not known is wrong")
  func faults() {
    func one(_ provider: String) -> String {
      "{\"configurations\": [{\"name\": \"a\", \"providers\": [\(provider)]}]}"
    }
    func ldap(_ members: String) -> String { one("{\"type\": \"ldap\", \(members)}") }
    let file = #"{"type": "userFile"}"#
    for (text, words) in [
      ("{", "s.json:1:2"), ("{}", "no configuration"), (#"{"x": 1}"#, "no member \"x\""),
      (#"{"configurations": [{}]}"#, "needs a name"),
      (#"{"configurations": [{"name": "a@b"}]}"#, "needs a name"),
      (#"{"configurations": [{"name": "a", "providers": []}]}"#, "not optional"),
      (one(#"{"type": "userFile", "flag": "optional"}"#), "not optional"),
      (one(#"{"type": "userFile", "flag": "always"}"#), "no flag"),
      (one(#"{"type": "radius"}"#), "no provider"), (one("{}"), "no provider"),
      (one(#"{"type": "userFile", "user": "x"}"#), "no member"),
      (one(#"{"type": "http", "address": "http://login/"}"#), "only to this machine"),
      (one(#"{"type": "http", "address": "https://u:p@login/"}"#), "not an address"),
      (one(#"{"type": "http", "address": "https://l/", "networks": ["all"]}"#), "no network"),
      (ldap(#""base": "dc=x""#), "needs servers"),
      (ldap(#""base": "dc=x", "servers": ["ldap://far"]"#), "startTLS"),
      (ldap(#""base": "dc=x", "servers": ["ldap://127.0.0.1.far"]"#), "startTLS"),
      (ldap(#""servers": ["ldaps://a"]"#), "\"base\" is missing"),
      (ldap(#""base": "dc=x", "servers": ["ldaps://a"], "filter": "(uid=x)""#), "{user}"),
      (ldap(#""base": "dc=x", "servers": ["ldaps://a"], "user": "cn=x""#), "password"),
      (
        "{\"configurations\": [{\"name\": \"a\", \"providers\": [\(file)]}, "
          + "{\"name\": \"a\", \"providers\": [\(file)]}]}", "two configurations"
      ),
      (
        "{\"configurations\": [{\"name\": \"a\", \"providers\": [\(file)]}], "
          + "\"roles\": {\"other\": {}}}", "no member \"other\""
      ),
      (
        "{\"configurations\": [{\"name\": \"a\", \"providers\": [\(file)]}], "
          + "\"roles\": {\"default\": {\"P\": {\"r\": \"auto\"}}}}", "AUTO"
      ),
    ] {
      #expect(problem(text)?.contains(words) == true, "\(text): \(problem(text) ?? "no problem")")
    }
    #expect(problem(ldap(#""base": "dc=x", "servers": ["ldap://127.0.0.1:389"]"#)) == nil)
  }

  @Test("A file that others can read is refused")
  func mode() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let text = #"{"configurations": [{"name": "a", "providers": [{"type": "userFile"}]}]}"#
    try Data(text.utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    chmod(path, 0o640)
    #expect(throws: ServerError.self) { try SecurityFile(path: path, Self.sources) }
    chmod(path, 0o600)
    #expect(try SecurityFile(path: path, Self.sources).configurations.count == 1)
  }
}
