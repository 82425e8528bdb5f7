import Foundation
import Testing

@Suite("The check of the public API")
struct APITests {
  private let checkout = SmallCheckout()
  private static let kept = [
    "Booking | struct Booking", "Booking.seats | var seats: Int", "Flight | struct Flight",
    "Flight.free(in:) | func free(in cabin: String) -> Int",
  ]

  private func list(_ folder: String, _ lines: [String], products: String = "Travel") throws {
    let text = (["# Products: \(products)"] + lines).joined(separator: "\n")
    try checkout.write(text + "\n", to: "\(folder)/TravelKit.txt")
  }

  /// What the check says where `now` is published and the change log has `log` in its first section.
  private func found(
    _ now: [String], log: String = "", products: String = "Travel", _ options: String...
  ) throws -> [String] {
    try checkout.write(
      "# Change log\n\n## 0.2.0\n\n\(log)\n\n## 0.1.0\n\n`Booking.seats`\n", to: "CHANGELOG.md")
    try list("now", now, products: products)
    let root = checkout.root.path
    let now = checkout.root.appending(path: "now").path
    if options.isEmpty { return try script("check-api", "--root", root, "--lists", now) }
    return try script("check-api", "--root", root, "--lists", now, options[0])
  }

  @Test("What is as listed passes, and without any list the first is written")
  func same() throws {
    #expect(try found(Self.kept, "--update") == [])
    #expect(try found(Self.kept) == [])
    let text = try checkout.read("Documentation/API/TravelKit.txt")
    #expect(text == (["# Products: Travel"] + Self.kept).joined(separator: "\n") + "\n")
  }

  @Test("A change that no line of the first section names is found with symbol, product and cure")
  func unnamed() throws {
    try list("Documentation/API", Self.kept)
    var now = Self.kept
    now[1] = "Booking.seats | var seats: Int?"
    for options in [[], ["--update"]] {
      let lines =
        try options.isEmpty ? found(now) : found(now, options[0])
      #expect(lines.first == "- Booking.seats | var seats: Int")
      #expect(lines.contains("+ Booking.seats | var seats: Int?"))
      #expect(lines.contains { $0.contains("Booking.seats of TravelKit (product Travel) changed") })
      #expect(lines.last?.contains("Scripts/check api --update") == true)
    }
    #expect(try checkout.read("Documentation/API/TravelKit.txt").contains("seats: Int\n"))
    // Prose is no name, and the name of another member or of the type is not this one.
    for log in ["seats", "`Booking`", "`Booking.seat`", "`Flight.free(in:)`"] {
      #expect(try !found(now, log: log).isEmpty, "\(log)")
    }
  }

  @Test(
    "A change with its name must still be written to the lists, and then it passes",
    arguments: ["`Booking.seats` is optional.", "- `seats`: nil before the flight is known"])
  func named(log: String) throws {
    try list("Documentation/API", Self.kept)
    var now = Self.kept
    now[1] = "Booking.seats | var seats: Int?"
    #expect(
      try found(now, log: log).last?.contains("the lists in Documentation/API are older") == true)
    #expect(try found(now, log: log, "--update") == [])
    #expect(try found(now) == [])
  }

  @Test("A removed function is named with or without its labels; a removed type names its members")
  func removed() throws {
    try list("Documentation/API", Self.kept)
    let without = Array(Self.kept.prefix(3))
    for log in ["`Flight.free(in:)`", "`free(in:)`", "`Flight.free`"] {
      #expect(try found(without, log: log).count == 2, "\(log)")
    }
    func isNamed(_ log: String) throws -> Bool {
      try !found(Array(Self.kept.prefix(2)), log: log).contains { $0.contains("does not name") }
    }
    #expect(try isNamed("`Flight`"))
    #expect(try !isNamed("`Flight.free`"))
  }

  @Test("Another product that has the module is a change of the module")
  func products() throws {
    try list("Documentation/API", Self.kept)
    #expect(try !found(Self.kept, products: "Journeys, Travel").isEmpty)
    #expect(
      try found(Self.kept, log: "`TravelKit`", products: "Journeys, Travel", "--update") == [])
  }

  @Test("A list without its first line says how to make it anew")
  func broken() throws {
    try checkout.write("Booking | struct Booking\n", to: "Documentation/API/TravelKit.txt")
    let lines = try found(Self.kept)
    #expect(lines.count == 1 && lines[0].contains("Restore the file from git"))
  }
}
