import Foundation
import Testing

@testable import FerryODataAddress

/// The numbers that the documentation prints are those of the sources.
@Suite("The documented limits of addresses") struct LimitDocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// What stands below a heading, up to the next one of its kind.
  private func section(_ heading: String, _ file: String) throws -> Substring {
    let text = try String(
      contentsOf: Self.root.appendingPathComponent(file), encoding: .utf8)
    let start = try #require(text.range(of: "\n## \(heading)\n"), "\(file) has no \(heading)")
    let rest = text[start.upperBound...]
    return rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
  }

  /// As people write it: 10,000.
  private func shown(_ number: Int) -> String {
    let digits = String(number)
    return digits.count <= 3 ? digits : "\(shown(number / 1_000)),\(digits.suffix(3))"
  }

  private func expect(_ phrases: [String], in section: Substring) {
    for phrase in phrases { #expect(section.contains(phrase), "\(phrase)") }
  }

  @Test(
    "The limits of an address are printed as they are",
    arguments: [
      ("Addresses", "Documentation/ODataLimits.md"),
      ("Limits", "Sources/OData/Address/FerryODataAddress.docc/Addresses.md"),
    ])
  func addresses(_ heading: String, _ file: String) throws {
    let limits = ODataAddressLimits.standard
    expect(
      [
        "more than \(limits.lengthBytes >> 10) KB (`lengthBytes`)",
        "\(limits.depth) levels of parentheses, lists and operators",
        "more than \(shown(limits.nodes)) operators, names and literals (`nodes`)",
        "more than \(limits.nameLength) letters (`nameLength`)",
      ], in: try section(heading, file))
  }

  @Test("The limits of a pattern are printed as they are")
  func patterns() throws {
    let (steps, repeats) = (shown(TextPattern.stepLimit), shown(TextPatternReader.repeatLimit))
    let (depth, work) = (TextPatternReader.depthLimit, TextPattern.workLimit)
    expect(
      [
        "more than \(steps) steps", "a repetition of more than \(repeats)",
        "more than \(depth) groups", "more than \(shown(work)) looks at a step",
      ], in: try section("Conditions evaluated in memory", "Documentation/ODataLimits.md"))
    expect(
      [
        "\(steps) steps", "repetitions of \(repeats)", "\(depth) groups inside each other",
        "\(shown(work)) looks at a step",
      ],
      in: try section(
        "Evaluate", "Sources/OData/Address/FerryODataAddress.docc/Addresses.md"))
  }
}
