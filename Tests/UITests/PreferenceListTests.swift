import FerryKitUI
import FerryPreferences
import FerryTestTraits
import FerryWorld
import Foundation
import Observation
import Synchronization
import Testing

@Suite("The screen of preferences")
struct PreferenceListTests {
  private let theme = PreferenceKey<String>("theme", default: "light") {
    ["light", "dark"].contains($0) ? nil : "\"\($0)\" is no theme"
  }
  private let path = FileManager.default.temporaryDirectory
    .appending(path: "ferry-\(UUID().uuidString)").path

  private func preferences() throws -> Preferences {
    try Preferences(PreferenceFile(path: path), world: .system())
  }

  private func row(_ name: String, _ list: PreferenceList) throws -> PreferenceList.Row {
    try #require(list.sections.flatMap(\.rows).first { $0.name == name })
  }

  @Test("Each key is a row of its part; the app's own come first", .reference("adr/PRF-12"))
  func rows() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let list = try PreferenceList(try preferences(), keys: KnownPreferences.all + [theme.erased])
    #expect(
      list.sections.map(\.name)
        == ["", "connectivity", "persistence", "parser", "cache", "trace"])
    #expect(list.sections[0].rows.map(\.name) == ["theme"])
    let port = try row("SDM_CONNECTIVITY_HTTPS_PORT", list)
    #expect(port.typeName == "int" && port.text == "443" && port.defaultText == "443")
    #expect(!port.isSet && port.problem == nil)
    #expect(list.sections.flatMap(\.rows).count == KnownPreferences.all.count + 1)
  }

  @Test("A value is stored, a wrong one is refused with the reason, and the default comes back")
  func changes() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let preferences = try preferences()
    let list = try PreferenceList(preferences, keys: [theme.erased])
    list.set("theme", to: "dark")
    #expect(preferences.value(of: theme) == "dark")
    #expect(try row("theme", list).isSet && row("theme", list).text == "dark")
    list.set("theme", to: "blue")
    #expect(try row("theme", list).problem == "theme: \"blue\" is no theme")
    #expect(try row("theme", list).text == "dark" && preferences.value(of: theme) == "dark")
    list.set("theme", to: "light")
    #expect(try row("theme", list).problem == nil && row("theme", list).isSet)
    list.reset("theme")
    list.reset("theme")
    #expect(try row("theme", list).text == "light" && !row("theme", list).isSet)
    list.set("theme", to: "dark")
    list.resetAll()
    #expect(try !row("theme", list).isSet && row("theme", list).problem == nil)
  }

  @Test("A view hears of changes by the user and by other code, and of none after its end")
  func observed() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let preferences = try preferences()
    var list: PreferenceList? = try PreferenceList(preferences, keys: [theme.erased])
    let heard = Mutex(0)
    func watch() {
      withObservationTracking {
        _ = list?.sections
      } onChange: {
        heard.withLock { $0 += 1 }
      }
    }
    watch()
    list?.set("theme", to: "dark")
    #expect(heard.withLock { $0 } == 1)
    watch()
    try preferences.set(theme, to: "light")
    #expect(heard.withLock { $0 } == 2)
    watch()
    list?.set("theme", to: "blue")
    #expect(heard.withLock { $0 } == 3)
    weak let watched = list
    list = nil
    #expect(watched == nil)
    try preferences.set(theme, to: "dark")
    #expect(heard.withLock { $0 } == 3)
  }

  @Test("A key that cannot be used is an error of the list")
  func wrongKey() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let preferences = try preferences()
    let error = #expect(throws: PreferencesError.self) {
      try PreferenceList(
        preferences, keys: [PreferenceKey<Int>("SDM_CONNECTIVITY_HTTPS_PORT", default: 1).erased])
    }
    #expect(error?.code == .wrongType)
  }
}
