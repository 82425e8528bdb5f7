import Testing

@Suite("The map")
struct MapTests {
  @Test("The pictures in Documentation are of this tree")
  func current() throws {
    #expect(try script("map", "--check") == [])
  }
}

@Suite("The map can be wrong")
struct MapFaultTests {
  private let checkout = SmallCheckout()

  /// Two modules that nothing connects, and two stages of which the later names the earlier.
  private func write() throws {
    try checkout.write(
      """
      let circle: [Target] = [
        module("FerryModel", "Circle/Model"),
        module("Ferry", "Circle/Device", ["FerryModel"]),
      ]
      """, to: "Package.swift")
    try checkout.write("public struct Model {}\n", to: "Sources/Circle/Model/Model.swift")
    try checkout.write("struct Store {}\n", to: "Sources/Circle/Device/Store/Store.swift")
    try checkout.write(
      "struct Pending {\n  // Row\n  let store: Store\n}\n",
      to: "Sources/Circle/Device/Pending/Pending.swift")
    try checkout.write("struct Row {}\n", to: "Sources/Circle/Device/Objects/Row.swift")
    try checkout.write(
      "# Way\n\n## 1. First\n\n`Sources/Circle/Device/Pending/Pending.swift:Pending` and "
        + "`Sources/Circle/Device/Store/Store.swift:Store`.\n", to: "Documentation/TheWay.md")
  }

  private func map(_ arguments: String...) throws -> [String] {
    try script("map", "--root", checkout.root.path, arguments.first ?? "--write")
  }

  private func arrows() throws -> [String] {
    let text = try checkout.read("Documentation/map/circle.svg")
    return text.split(separator: "\n").filter { $0.hasPrefix("<path") }.compactMap {
      $0.split(separator: ">").dropFirst(2).first?.split(separator: "<").first.map(String.init)
    }
  }

  @Test("A new import and a new use between stages change the picture, and the old one is refused")
  func planted() throws {
    try write()
    #expect(try map() == [])
    #expect(try map("--check") == [])
    let way = "step 1: Ferry/Pending, then Ferry/Store"
    #expect(try arrows() == ["Ferry/Pending uses Ferry/Store", way])

    try checkout.write(
      "import FerryModel\nstruct Row {}\n", to: "Sources/Circle/Device/Objects/Row.swift")
    try checkout.write("let row: Row? = nil\n", to: "Sources/Circle/Device/Pending/Rows.swift")
    #expect(
      try map("--check")
        == ["Documentation/map/circle.svg is not of this tree; run Scripts/map"])
    #expect(try map() == [])
    #expect(
      try arrows() == [
        "Ferry uses FerryModel", "Ferry/Pending uses Ferry/Objects",
        "Ferry/Pending uses Ferry/Store", way,
      ])
  }

  @Test("The overview has the streets, and a sheet of a street that is no more is refused")
  func streets() throws {
    try write()
    #expect(try map() == [])
    #expect(try checkout.read("Documentation/map.svg").contains(">Circle<"))
    try checkout.write("<svg/>\n", to: "Documentation/map/attic.svg")
    #expect(
      try map("--check") == ["Documentation/map/attic.svg is not of this tree; run Scripts/map"])
    #expect(try map() == [])
    #expect(try map("--check") == [])
  }

  @Test("A file on the way that is in no module is named")
  func unknown() throws {
    try write()
    try checkout.write("## 1. First\n`Sources/Nowhere/A.swift:A`\n", to: "Documentation/TheWay.md")
    #expect(
      try map()
        == [
          "Documentation/TheWay.md names Sources/Nowhere/A.swift, which is in no module of the map"
        ])
  }
}
