import FerryTrace
import FerryWorld
import Testing

@Suite("Headers of a trace")
struct TraceHeadersTests {
  private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  private func read(
    _ passports: [String] = [], _ parents: [String] = [], _ correlations: [String] = []
  ) -> TraceHeaders {
    TraceHeaders(passports: passports, parents: parents, correlations: correlations)
  }

  @Test("Each is read once, and what is there twice counts as missing")
  func once() throws {
    let passport = Passport(SystemChance(), level: .high)
    let head = read([passport.header], [Self.parent], ["Order-1:2"])
    #expect(head.passport?.rootID == passport.rootID && head.passportText == passport.header)
    #expect(head.parent?.traceID == "0af7651916cd43dd8448eb211c80319c")
    #expect(head.parent?.spanID == "b7ad6b7169203331" && head.parent?.isSampled == true)
    #expect(head.correlationID == "Order-1:2")
    let twice = read(
      [passport.header, passport.header], [Self.parent, Self.parent], ["a", "b"])
    #expect(twice == read())
  }

  @Test("A passport of another version passes as text, and nothing of it is read")
  func otherVersion() {
    let digits = String(repeating: "2A", count: 100)
    #expect(read([digits]).passportText == digits && read([digits]).passport == nil)
    for text in ["", "2A", digits + "x", String(repeating: "2A", count: 4_000)] {
      #expect(read([text]).passportText == nil)
    }
  }

  @Test("What could be more than an id in a log is none")
  func ids() {
    for text in ["", "a b", "a\nb", "a\"b", "ä", String(repeating: "a", count: 129)] {
      #expect(read([], [], [text]).correlationID == nil, "\(text)")
    }
    for text in [
      "00-x", Self.parent.uppercased(), Self.parent + "0", "01" + Self.parent.dropFirst(2),
    ] {
      #expect(read([], [text]).parent == nil, "\(text)")
    }
  }
}
