import FerryPreferences
import FerryWorld
import Testing

@Suite("Preferences and bad stores")
struct BadStoreTests {
  let size = PreferenceKey<Int>("size", default: 12)

  @Test("A store that cannot be written changes nothing, and nobody hears of it")
  func refusedWrite() throws {
    let store = MemoryStore()
    let preferences = try open(store)
    try preferences.set(size, to: 20)
    let heard = Heard<Int>()
    _ = try preferences.listen(to: size) { heard.add($0) }
    store.refuse()
    let error = #expect(throws: PreferencesError.self) { try preferences.set(size, to: 30) }
    #expect(error?.code == .store && error?.message == "/nowhere/at/all cannot be written")
    #expect(throws: PreferencesError.self) { try preferences.resetAll() }
    #expect(preferences.value(of: size) == 20 && heard.all.isEmpty)
  }

  @Test("The same name under two types is an error, also by an older name")
  func twoTypes() throws {
    let preferences = try open()
    try preferences.set(size, to: 20)
    let other = PreferenceKey<String>("size", default: "big")
    let error = #expect(throws: PreferencesError.self) { try preferences.set(other, to: "small") }
    #expect(
      error?.code == .wrongType
        && error?.message == "size has the type long; this key has the type text")
    #expect(preferences.value(of: size) == 20)
    #expect(preferences.value(of: other) == "big")
  }

  @Test("Names and texts have limits, exact to the byte")
  func limits() throws {
    let preferences = try open()
    let longest = String(repeating: "n", count: 255)
    try preferences.setText(longest, to: String(repeating: "x", count: 65_536))
    for name in ["", longest + "n", "a\nb", "a\u{7F}"] {
      let error = #expect(throws: PreferencesError.self) { try preferences.setText(name, to: "x") }
      #expect(error?.code == .invalidName)
    }
    let error = #expect(throws: PreferencesError.self) {
      try preferences.setText("n", to: String(repeating: "x", count: 65_537))
    }
    #expect(error?.code == .tooLarge && error?.message.contains("65537") == true)
  }

  @Test("A foreign file, a newer one and one of no text are errors by name; the file stays")
  func foreign() throws {
    for (text, code) in [
      ("", PreferencesError.Code.damaged), ("<plist/>", .damaged),
      ("FerryPreferences 2\n", .unknownVersion), ("FerryPreferences \n", .unknownVersion),
    ] {
      let store = MemoryStore(text)
      let error = #expect(throws: PreferencesError.self) { try open(store) }
      #expect(error?.code == code && store.text == text && store.writes == 0)
    }
    let preferences = try open()
    try preferences.set(size, to: 20)
    let error = #expect(throws: PreferencesError.self) { try preferences.restore([0xFF, 0xFE]) }
    #expect(error?.code == .damaged && preferences.value(of: size) == 20)
  }

  @Test("Each byte of a snapshot flipped or cut gives values or an error by name, never a crash")
  func flipped() throws {
    let preferences = try open()
    try preferences.set(size, to: 20)
    try preferences.setText("name", to: "tab\tand\\end\n")
    let whole = preferences.snapshot()
    for index in whole.indices {
      for bit in 0..<8 {
        var bytes = whole
        bytes[index] ^= 1 << UInt8(bit)
        let other = try open()
        do {
          try other.restore(bytes)
          #expect(other.names.count <= 2)
        } catch {
          #expect([.damaged, .unknownVersion].contains(error.code))
        }
      }
      let cut = try open()
      try? cut.restore(Array(whole[..<index]))
      #expect(cut.names.count <= 2)
    }
  }
}
