import FerryJSON
import FerryOData
import FerryODataAddress
import FerryODataShell
import Foundation
import Testing

/// Judges a value by the words of JSON Schema that our schema uses.
private struct SchemaJudge {
  let root: JSONNode

  func problems(_ value: JSONNode, _ schema: JSONNode, _ path: String = "") -> [String] {
    if let reference = schema["$ref"]?.string, let name = reference.split(separator: "/").last {
      return problems(value, root["$defs"]?[String(name)] ?? schema, path)
    }
    switch schema["type"]?.string {
    case "object":
      guard let members = value.object else { return ["\(path) is no object"] }
      let lacking = (schema["required"]?.array ?? []).compactMap(\.string).filter {
        value[$0] == nil
      }
      return lacking.map { "\(path) lacks \($0)" }
        + members.flatMap { member -> [String] in
          guard let inner = schema["properties"]?[member.key] else {
            return ["\(path)/\(member.key) is not declared"]
          }
          return problems(member.value, inner, path + "/" + member.key)
        }
    case "array":
      guard let elements = value.array, let items = schema["items"] else {
        return ["\(path) is no array"]
      }
      return elements.flatMap { problems($0, items, path + "[]") }
    case "string":
      guard let text = value.string else { return ["\(path) is no string"] }
      let allowed = schema["enum"]?.array?.compactMap(\.string)
      return allowed.map { $0.contains(text) } ?? true ? [] : ["\(path) is \(text)"]
    case "integer":
      guard let number = value.integer else { return ["\(path) is no integer"] }
      return number >= schema["minimum"]?.integer ?? .min ? [] : ["\(path) is \(number)"]
    case "boolean": return value.boolean == nil ? ["\(path) is no boolean"] : []
    default: return ["\(path) has a schema without a type"]
    }
  }
}

@Suite("ferry odata address") struct ShellTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func run(_ arguments: String...) -> ODataShell.Outcome {
    struct Missing: Error {}
    let files = ["m": ShopMetadata.xml, "-": "Orders(1)\nnext", "bad": "<x/>"]
    return ODataAddressShell.run(arguments) { path in
      guard let text = files[path] else { throw Missing() }
      return Array(text.utf8)
    }
  }

  private func judge() throws -> SchemaJudge {
    let file = Self.root.appendingPathComponent("Documentation/odata-address.schema.json")
    return SchemaJudge(root: try JSONNode.parse(Array(Data(contentsOf: file))))
  }

  @Test("What --json prints is what its JSON Schema says, for random addresses of both versions")
  func schema() throws {
    let judge = try judge()
    for version in [ODataVersion.v2, .v4] {
      for seed in 0..<300 {
        var maker = AddressMaker(UInt64(seed) + 500_000, version)
        let address = maker.address()
        let uri = try address.uri(version)
        let service = address.service.isEmpty ? [] : ["--service", address.service]
        let outcome = ODataAddressShell.run(
          [uri, "--json", "--version", "\(version.rawValue)"] + service
        ) { _ in [] }
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let printed = try JSONNode.parse(outcome.output)
        #expect(judge.problems(printed, judge.root) == [])
        #expect(printed["uri"]?.string == uri)
      }
    }
  }

  @Test("With metadata the meaning and the type of each segment is told")
  func metadata() throws {
    let outcome = run(
      "https://h/any/Orders(1)/Lines?$filter=Price gt 1&$search=a&$top=2", "--metadata", "m",
      "--json")
    let judge = try judge()
    let printed = try JSONNode.parse(outcome.output)
    #expect(judge.problems(printed, judge.root) == [])
    #expect(printed["service"]?.string == "https://h/any/")
    let meanings = printed["path"]?.array?.map { $0["meaning"]?.string }
    #expect(meanings == ["entity-set", "key", "navigation"])
    #expect(printed["type"]?.string == "Collection(Shop.Line)")
    #expect(printed["path"]?.array?[2]["column"]?.integer == 25)
    #expect(printed["options"]?["filter"]?["kind"]?.string == "gt")
    let text = String(
      decoding: run("Orders(1)/Lines?$top=2", "--metadata", "m").output, as: UTF8.self)
    #expect(text.contains("segment: Lines (navigation, Collection(Shop.Line))\noption: $top=2\n"))
  }

  @Test("Refused with 1 and the column, misused with 2, read with 0")
  func codes() throws {
    let refused = run("Orders?$filter=A eqq 1")
    #expect(refused.status == 1 && refused.complaint.hasPrefix("address:1:18 $filter: eqq where"))
    #expect(!refused.complaint.contains("\n"))
    let json = run("Orders?$apply=x", "--json")
    let judge = try judge()
    let printed = try JSONNode.parse(json.output)
    #expect(json.status == 1 && judge.problems(printed, judge.root) == [])
    #expect(printed["error"]?["code"]?.string == "not-offered")
    let unknown = run("Orders(1)/Linse", "--metadata", "m")
    #expect(
      unknown.status == 1 && unknown.complaint.contains("1:11")
        && unknown.complaint.contains("Lines"))
    #expect(run("Orders(1)", "--version", "2").status == 0)
    #expect(run("-").status == 0 && run("-").output == run("Orders(1)").output)
    #expect(run("Orders", "--metadata", "bad").status == 1)
    for misuse in [[], ["A", "B"], ["A", "--x"], ["A", "--version", "9"], ["A", "--metadata"]] {
      #expect(ODataAddressShell.run(misuse) { _ in [] }.status == 2)
    }
  }

  @Test("What V2 alone reads is refused with the switch, where no version is given")
  func versionSwitch() throws {
    let old = "Orders?$filter=D gt datetime'2026-01-01T00:00:00'"
    let refused = run(old)
    #expect(refused.status == 1 && refused.complaint.hasSuffix("; V2 reads it: --version 2)"))
    let printed = try JSONNode.parse(run(old, "--json").output)
    #expect(printed["error"]?["hint"]?.string?.hasSuffix("V2 reads it: --version 2") == true)
    #expect(run(old, "--version", "2").status == 0)
    for other in [[old, "--version", "4"], ["Orders?$filter=A eqq 1"], [old, "--metadata", "m"]] {
      #expect(ODataAddressShell.run(other) { _ in Array(ShopMetadata.xml.utf8) }.status == 1)
      let complaint = ODataAddressShell.run(other) { _ in Array(ShopMetadata.xml.utf8) }.complaint
      #expect(!complaint.contains("--version"), "\(complaint)")
    }
  }

  @Test("A file that is not there is told as the other commands tell it")
  func missing() {
    let told = "gone cannot be read. Check that the file exists and is readable."
    #expect(run("Orders", "--metadata", "gone").complaint == told)
    #expect(run("Orders", "--metadata", "gone").status == 1)
    struct Missing: Error {}
    for arguments in [["describe", "gone"], ["describe", "there", "--metadata", "gone"]] {
      let outcome = ODataShell.run(arguments) { path in
        guard path == "there" else { throw Missing() }
        return []
      }
      #expect(outcome.status == 1 && outcome.complaint == told)
    }
  }
}
