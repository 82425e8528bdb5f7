import FerryJSON
import Testing

@Suite("JSON by pieces") struct TapeTests {
  private func progress(_ text: String, isLast: Bool) throws -> JSONTape.Progress {
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      var tape = JSONTape()
      return try tape.read(bytes, from: 0, isLast: isLast)
    }
  }

  @Test("A value asks for more at every cut, and is complete with its last byte")
  func cuts() throws {
    let text = #"{"a":[1,-2.5e3,"x\u00e9\\",true,null,{"b":{}}]}"#
    for end in 1..<text.utf8.count {
      let part = String(decoding: Array(text.utf8)[..<end], as: UTF8.self)
      #expect(try progress(part, isLast: false) == .more, "\(part)")
      #expect(throws: JSONError.self) { try progress(part, isLast: true) }
    }
    #expect(try progress(text, isLast: false) == .complete(text.utf8.count))
  }

  @Test("A number at the end may go on, unless no more bytes will come")
  func numbers() throws {
    #expect(try progress("12", isLast: false) == .more)
    #expect(try progress("12", isLast: true) == .complete(2))
    #expect(try progress("12 ", isLast: false) == .complete(2))
  }

  @Test(
    "What is wrong is told at once, though more could come",
    arguments: ["[1,]", "{a", "[01,", "\"\u{1}"])
  func faults(_ text: String) {
    #expect(throws: JSONError.self) { try progress(text, isLast: false) }
  }

  @Test("More members than the limit are refused")
  func members() {
    let text = Array(#"{"a":1,"b":2,"c":3}"#.utf8)
    #expect(throws: JSONError.self) {
      try text.withUnsafeBufferPointer { bytes in
        var tape = JSONTape(memberLimit: 2)
        return try tape.read(bytes, from: 0, isLast: true)
      }
    }
  }
}
