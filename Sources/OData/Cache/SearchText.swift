import FerryOData
import Foundation

/// Texts as search compares them: without case, accents and width.
enum SearchText {
  /// Stands before each field.
  static let fieldMark: UInt8 = 1
  private static let space = UInt8(ascii: " ")

  /// Letters and digits as they are compared; other characters beyond ASCII become spaces.
  static func folded(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    var isPlain = true
    for index in bytes.indices {
      let byte = bytes[index]
      if byte >= 0x80 {
        isPlain = false
        break
      }
      if byte >= 0x41 && byte <= 0x5a { bytes[index] = byte | 0x20 }
      if byte < 0x20 { bytes[index] = space }
    }
    if isPlain { return bytes }
    let folded = text.folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    bytes.removeAll(keepingCapacity: true)
    for scalar in folded.unicodeScalars {
      if scalar.isASCII {
        let byte = UInt8(truncatingIfNeeded: scalar.value)
        bytes.append(byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte < 0x20 ? space : byte)
      } else if scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.EncodedScalar())
      } else if scalar.properties.generalCategory != .nonspacingMark {
        bytes.append(space)
      }
    }
    return bytes
  }

  /// Whether a byte is part of a word.
  @inline(__always)
  static func isWord(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte >= 0x61 && byte <= 0x7a || byte >= 0x30 && byte <= 0x39
  }

  /// The words of a folded text.
  static func words(_ folded: [UInt8]) -> [[UInt8]] {
    folded.split { !isWord($0) }.map(Array.init)
  }

  /// What of an entry is searched: a mark and the folded text for each field.
  static func of(_ entry: ODataEntry, _ fields: SearchFields) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ value: EdmValue?) {
      guard let value else { return }
      switch value {
      case .null, .binary, .spatial: return
      case .collection(let values): for value in values { add(value) }
      case .complex(let complex): for property in complex.properties { add(property.value) }
      case .string(let text):
        bytes.append(fieldMark)
        bytes += folded(text)
      default:
        bytes.append(fieldMark)
        bytes += folded(value.text)
      }
    }
    switch fields {
    case .paths(let paths): for path in paths { add(entry[path: path]) }
    case .texts:
      for property in entry.properties where property.value.string != nil { add(property.value) }
    }
    return bytes
  }

  /// The texts of an entry that are searched, as they are.
  static func values(of entry: ODataEntry, _ fields: SearchFields) -> [String] {
    switch fields {
    case .paths(let paths):
      paths.compactMap { entry[path: $0] }.filter { !$0.isNull }.map { $0.string ?? $0.text }
    case .texts: entry.properties.compactMap(\.value.string)
    }
  }
}

/// Which properties of a collection's entries are searched.
enum SearchFields: Sendable, Equatable {
  /// Those that the metadata names.
  case paths([String])
  /// All texts, where the metadata names none.
  case texts

  init(_ schema: ODataEntitySchema?) {
    var paths: [String] = []
    func walk(_ info: ODataPropertyInfo, _ path: String) {
      for child in info.children {
        let own = path.isEmpty ? child.name : path + "\\" + child.name
        if child.isSearchable { paths.append(own) } else { walk(child, own) }
      }
    }
    if let schema { walk(schema.root, "") }
    self = paths.isEmpty ? .texts : .paths(paths)
  }
}

/// How a search term is compared with entries.
public enum ODataSearchAlgorithm: Int, Sendable, Hashable, CaseIterable {
  /// Each word of the term begins a word of the entry. The default.
  case tokenizedPrefix = 0
  /// A field begins with the term.
  case fullTermPrefix = 1
  /// One of the words of the term is in the entry.
  case tokenizedContain = 2
  /// The term is in a field.
  case fullTermContain = 3
  /// Each of the words of the term is in the entry.
  case tokenizedContainAll = 4
  /// The term is a regular expression, found in a field as it is written, case and accents too.
  case regex = 5
}

/// A term, ready to be compared with many entries.
struct SearchTerm {
  private let algorithm: ODataSearchAlgorithm
  private let whole: [UInt8]
  private let words: [[UInt8]]

  init(_ term: String, _ algorithm: ODataSearchAlgorithm) {
    self.algorithm = algorithm
    var folded = SearchText.folded(term)
    while folded.last == UInt8(ascii: " ") { folded.removeLast() }
    whole = Array(folded.drop { $0 == UInt8(ascii: " ") })
    words = SearchText.words(whole)
  }

  /// Whether every entry passes.
  var isEmpty: Bool { whole.isEmpty }

  func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    switch algorithm {
    case .tokenizedPrefix:
      !words.isEmpty && words.allSatisfy { find($0, in: text, .word) }
    case .fullTermPrefix: find(whole, in: text, .field)
    case .tokenizedContain: words.contains { find($0, in: text, .anywhere) }
    case .fullTermContain, .regex: find(whole, in: text, .anywhere)
    case .tokenizedContainAll:
      !words.isEmpty && words.allSatisfy { find($0, in: text, .anywhere) }
    }
  }

  private enum Start { case anywhere, word, field }

  @inline(__always)
  private func find(
    _ word: [UInt8], in text: UnsafeBufferPointer<UInt8>, _ start: Start
  ) -> Bool {
    let count = word.count
    guard count > 0, text.count >= count else { return false }
    return word.withUnsafeBufferPointer { word in
      let first = word[0]
      var place = 0
      let last = text.count - count
      while place <= last {
        if text[place] == first {
          var same = 1
          while same < count && text[place + same] == word[same] { same += 1 }
          if same == count {
            switch start {
            case .anywhere: return true
            case .word: if place == 0 || !SearchText.isWord(text[place - 1]) { return true }
            case .field: if place > 0 && text[place - 1] == SearchText.fieldMark { return true }
            }
          }
        }
        place += 1
      }
      return false
    }
  }
}
