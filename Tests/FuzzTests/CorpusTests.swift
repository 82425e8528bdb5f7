import FerryFuzzTargets
import Foundation
import Testing

@Suite("What the fuzzer is fed with") struct CorpusTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fuzzing")

  static func documents(_ target: String) throws -> [[UInt8]] {
    let corpus = folder.appendingPathComponent("Corpora/\(target)")
    let names = try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted()
    return try names.map { try Array(Data(contentsOf: corpus.appendingPathComponent($0))) }
  }

  @Test("No document of a corpus breaks a promise, nor does its first half", arguments: names)
  func corpora(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let documents = try Self.documents(name)
    #expect(documents.count >= 3)
    for (number, document) in documents.enumerated() {
      #expect(target.run(document) == nil, "document \(number)")
      #expect(target.run(Array(document.prefix(document.count / 2))) == nil, "half of \(number)")
    }
    #expect(target.run([]) == nil)
  }

  static let names = FuzzTarget.all.map(\.name)

  @Test("Each target has a dictionary, and a document with a valid header", arguments: names)
  func seeds(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let dictionary = try String(
      contentsOf: Self.folder.appendingPathComponent("Dictionaries/\(name).dict"), encoding: .utf8)
    for line in dictionary.split(separator: "\n") {
      #expect(line.count > 2 && line.hasPrefix("\"") && line.hasSuffix("\""))
    }
    #expect(try Self.documents(name).contains { target.afterHeader($0) != nil })
    #expect(target.afterHeader([]) == nil && target.afterHeader([0xFF, 0xFE]) == nil)
  }
}
