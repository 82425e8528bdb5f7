import Foundation
import Testing

/// Documentation/FerryReference.md has a row for each name of the product, and no others.
@Suite("The table of the reference's names")
struct MigrationTableTests {
  private struct Row {
    let reference: String
    let own: String
    let swift: String
  }

  private static let page = House.root.appending(path: "Documentation/FerryReference.md")

  private static func rows() throws -> [Row] {
    try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard line.hasPrefix("|"), cells.count == 5, cells[1] != "reference", cells[1] != "---"
      else { return nil }
      return Row(reference: cells[1], own: cells[2], swift: cells[3])
    }
  }

  /// The names in the codes of a cell, without labels: `a(_:in:)` is `a`.
  private static func names(in cell: String) -> [String] {
    let codes = cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    return codes.filter { $0.offset % 2 == 1 }.map {
      String($0.element.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" })
    }
  }

  /// What the sources of a folder declare for apps: types, functions, properties and cases. A
  /// member of a nested type is named by itself.
  private static func declared(in folder: String) throws -> Set<String> {
    let opening = /^ *(?:public|case) .*$/
    let name =
      /\b(?:func|var|let|case|struct|enum|protocol|class|actor|typealias) `?([A-Za-z_]+)`?/
    var found: Set<String> = []
    let files = try #require(
      FileManager.default.enumerator(
        at: House.root.appending(path: folder), includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      var isProtocol = false
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        if line.hasPrefix("public protocol") { isProtocol = true }
        if line.hasPrefix("}") { isProtocol = false }
        let text = line.trimmingCharacters(in: .whitespaces)
        // A case of a `switch` begins with a point or a pattern.
        guard text.wholeMatch(of: opening) != nil || isProtocol && text.hasPrefix("func "),
          !text.hasPrefix("case ."), !text.hasPrefix("case let"),
          let match = text.firstMatch(of: name)
        else { continue }
        found.insert(String(match.1))
      }
    }
    return found
  }

  /// What the product implements for Ferry's protocols.
  private static let implementations: Set = ["answer", "criteria", "handle"]

  @Test("Each name of FerryReference has a row, and each row a name")
  func complete() throws {
    let symbols = try Self.declared(in: "Sources/Circle/Reference").subtracting(
      Self.implementations)
    #expect(symbols.count > 70, "\(symbols.sorted())")
    let rows = try Self.rows().flatMap { Self.names(in: $0.own) }
      .map { $0.split(separator: ".").last.map(String.init) ?? $0 }
    #expect(symbols.subtracting(rows).sorted() == [], "symbols without a row")
    // `AttributeTest.Operator` and `CompositeTest.Operator` are two rows of one name.
    #expect(Set(rows).subtracting(symbols).sorted() == [], "rows without a symbol")
  }

  @Test("The Swift form of each name of FerryReference is one that Ferry has")
  func forms() throws {
    let ferry = try Self.declared(in: "Sources/Circle/Device")
    for row in try Self.rows() where !row.own.isEmpty {
      let names = Self.names(in: row.swift).flatMap { $0.split(separator: ".").map(String.init) }
      // Generated types have attributes, the example's type has none of Ferry's names.
      let unknown = names.filter { !$0.isEmpty && !ferry.contains($0) }
      #expect(Set(unknown).isSubset(of: ["Booking", "Attributes"]), "\(row.own): \(unknown)")
    }
  }

  @Test("Each step of a database makes a callback")
  func steps() throws {
    let steps = House.read("Sources/Circle/Device/Observers/DatabaseStep.swift").matches(
      of: /\n  case (\w+)/
    ).map { String($0.1) }
    let made = House.read("Sources/Circle/Reference/CallbackHandler+Steps.swift").matches(
      of: /\n    case \.(\w+)[^:]*:\s+(\w+)\(/
    ).map { (String($0.1), String($0.2)) }
    #expect(steps.count == 40)
    #expect(Set(steps).symmetricDifference(made.map(\.0)).sorted() == [])
    // `onImport` has two forms: of an object, and of an entity with counts.
    #expect(Set(made.map(\.1)).count == 39, "two steps make one callback")
  }

  @Test("Each name of the reference that has an equivalent is in the table")
  func equivalents() throws {
    let guide = House.root.appending(path: "Documentation/Reference.md")
    let absent = ReferenceNames.named(
      in: try String(contentsOf: guide, encoding: .utf8).split(separator: "\n").map(String.init)
        .filter { line in
          let cells = line.split(separator: "|", omittingEmptySubsequences: false)
          return cells.count > 2 && cells[2].prefix(40).contains("not here")
        })
    let known = ReferenceNames.named(
      in: try String(contentsOf: Self.page, encoding: .utf8).split(separator: "\n")
        .map(String.init))
    let names = ReferenceNames.facts.flatMap { $0.names.split(whereSeparator: \.isWhitespace) }
      .map(String.init)
    #expect(names.count > 350)
    #expect(Set(names).subtracting(known).subtracting(absent).sorted() == [])
  }
}
