import FerryWire
import Testing

@Suite("Ranges of contents")
struct ContentMessageTests {
  @Test("A stretch up to the largest number ends with its content (found with the fuzz target)")
  func largest() throws {
    let stretch = try #require(ContentStretch("bytes=0-9223372036854775807"))
    #expect(stretch.end(of: 3) == 3)
    #expect(stretch.end(of: .max) == .max)
    #expect(ContentStretch("bytes=7-")?.end(of: 9) == 9)
  }

  @Test("Numbers of ranges are digits alone, without a sign (found with the fuzz target)")
  func signs() {
    for bad in ["bytes +0-1/9", "bytes 0-+1/9", "bytes 0-1/+9", "bytes */+9", "bytes */"] {
      #expect(ContentRange(bad) == nil, "\(bad)")
    }
    for bad in ["bytes=+1-2", "bytes=1-+2", "bytes=-0-2"] {
      #expect(ContentStretch(bad) == nil, "\(bad)")
    }
  }
}
