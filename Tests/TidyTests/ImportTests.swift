import FerryTestTraits
import Testing

@Suite("The walls")
struct ImportTests {
  @Test(
    "An app links the OData SDK without the synchronization, and the synchronization without the SDK",
    .reference("adr/SET-2")
  )
  func separateProducts() {
    /// The modules of a product with all that they import.
    func modules(_ product: String) -> Set<String> {
      var found: Set<String> = []
      var next = House.map.products.filter { $0.name == product }.flatMap(\.targets)
      #expect(!next.isEmpty, "the package has no product \(product)")
      while let name = next.popLast() {
        guard found.insert(name).inserted else { continue }
        next += House.map.target(named: name)?.dependencies ?? []
      }
      return found
    }
    let (synchronization, requests) = (modules("Ferry"), modules("FerryODataClient"))
    #expect(synchronization.isSuperset(of: ["Ferry", "FerryWire", "FerryHTTPClient"]))
    #expect(requests.isSuperset(of: ["FerryODataClient", "FerryOData", "FerryHTTPClient"]))
    #expect(requests.isDisjoint(with: ["Ferry", "FerryWire", "FerrySQLite", "FerryServer"]))
    #expect(!synchronization.contains { $0.hasPrefix("FerryOData") || $0 == "FerryServer" })
  }

  @Test("What an app links for its tests and previews has no suite for connectors and stores")
  func suites() {
    let suites: Set = ["FerryConformance", "FerryStoreConformance"]
    for product in House.map.products where product.name != "FerryConformance" {
      for target in product.targets where House.map.target(named: target)?.kind != .program {
        #expect(House.map.closure(of: target).isDisjoint(with: suites), "\(product.name)")
      }
    }
    #expect(
      House.map.products.first { $0.name == "FerryConformance" }?.targets
        == ["FerryConformance", "FerryConnector", "FerryModel"])
    #expect(!House.map.closure(of: "FerryConformance").contains("FerryServer"))
  }

  @Test("Every import stands in its target's line of Package.swift")
  func imports() {
    expectNone(House.files.flatMap { ImportRules.violations(in: $0, map: House.map) })
  }

  @Test("No module re-exports another, but for what an app gets with Ferry")
  func reexports() {
    expectNone(House.sources.flatMap(ImportRules.reexports))
  }

  @Test("Glibc stands behind its condition, and on a phone only in hands and World")
  func glibc() {
    let phone = House.map.closure(of: "Ferry")
    expectNone(
      House.sources.flatMap { ImportRules.glibc(in: $0, map: House.map, clientModules: phone) })
  }

  @Test("A street imports what its row names, and each C library has one hand")
  func streets() {
    expectNone(StreetRules.violations(in: House.map))
    // The table of Package.swift says what the rule says.
    let text = House.read("Package.swift")
    for (name, street) in StreetRules.streets where street.folder.hasPrefix("Sources/") {
      let row = text.split(separator: "\n").first { $0.hasPrefix("//   \(name) ") }
      #expect(name == "libraries" || row != nil, "Package.swift has no row for \(name)")
    }
  }

  @Test("Package.swift is understood whole")
  func understood() {
    let text = House.read("Package.swift")
    let lines = text.split(separator: "\n")
    for callee in ["module", "program", "tests", "library"] {
      let written = lines.count { $0.drop { $0 == " " }.hasPrefix(callee + "(") }
      let read = House.map.targets.filter { $0.kind.rawValue == callee }
      #expect(read.count >= written, "\(callee)(…) is called more often than it is understood")
    }
    for target in House.map.targets {
      #expect(House.paths.contains(target.path), "\(target.name): there is no \(target.path)")
    }
    #expect(House.map.target(named: "FerryCrypto")?.dependencies == ["FerryText", "COpenSSL"])
    let map = PackageMap(
      """
      let samples: [Target] = [
        .target(name: "A", dependencies: ["B"], path: "Samples/A", resources: [.copy("c.sql")])
      ]
      """)
    #expect(
      map.targets == [
        PackageMap.Target(
          name: "A", kind: .target, path: "Samples/A", dependencies: ["B"], section: "samples",
          line: 2)
      ])
  }
}

@Suite("The walls can fail")
struct ImportRulesTests {
  static let map = PackageMap(
    """
    let ground: [Target] = [
      module("FerrySQLite", "Ground/SQLite", [.target(name: "CSQLite", condition: .when([.linux]))])
    ]
    let circle: [Target] = [
      module("FerryModel", "Circle/Model"),
      module("Ferry", "Circle/Device", ["FerryModel", "FerrySQLite"], resources: [.copy("page.html")])
    ]
    let oData: [Target] = [module("FerryOData", "OData/OData")]
    let testTargets: [Target] = [tests("FerryTests", "ClientTests", ["Ferry"])]
    let clientLibraries: [Target] = [library("CSQLite")]
    """)

  private func violations(_ path: String, _ text: String) -> [String] {
    ImportRules.violations(in: SourceFile(path: path, text), map: Self.map).map(\.found)
  }

  @Test(
    "An import that the line does not name is found, however it is written",
    arguments: [
      "import FerryOData", "@testable import FerryOData", "public import FerryOData",
      "internal import struct FerryOData.Service", "@preconcurrency import FerryOData",
      "#if os(Linux)\n  import FerryOData\n#endif", "@_spi(Inside) import FerryOData",
    ])
  func undeclared(text: String) {
    #expect(violations("Sources/Circle/Device/A.swift", text) == ["import FerryOData in Ferry"])
  }

  @Test("A C module reached through another target is found")
  func throughAnother() {
    #expect(
      violations("Sources/Circle/Device/A.swift", "import CSQLite") == ["import CSQLite in Ferry"])
    #expect(violations("Sources/Ground/SQLite/A.swift", "import CSQLite") == [])
  }

  @Test("Imports in comments and literals are none, declared ones are allowed")
  func allowed() {
    let text = "import FerryModel\n// import Nothing\nlet text = \"\"\"\nimport Nothing\n\"\"\"\n"
    #expect(violations("Sources/Circle/Device/A.swift", text) == [])
    #expect(violations("Tests/ClientTests/A.swift", "@testable import Ferry") == [])
  }

  @Test("Testing belongs to tests, and every file to a target")
  func homeless() {
    #expect(
      violations("Sources/Circle/Device/A.swift", "import Testing") == ["import Testing in Ferry"])
    #expect(
      violations("Sources/Nowhere/A.swift", "") == ["no target of Package.swift holds this file"])
  }

  @Test("Glibc without its condition, or in a client's module, is found")
  func glibc() {
    let bare = SourceFile(path: "Sources/Ground/SQLite/A.swift", "import Glibc")
    let guarded =
      "#if canImport(Darwin)\nimport Darwin\n#elseif canImport(Glibc)\nimport Glibc\n#endif"
    let hand = SourceFile(path: "Sources/Ground/SQLite/A.swift", guarded)
    let side = SourceFile(path: "Sources/Circle/Device/A.swift", guarded)
    let phone = Self.map.closure(of: "Ferry")
    let found = [bare, hand, side].map {
      ImportRules.glibc(in: $0, map: Self.map, clientModules: phone).count
    }
    #expect(found == [1, 0, 1])
  }

  @Test("A re-export is found")
  func reexport() {
    let found = ["A.swift", "Exports.swift"].map { name in
      let file = SourceFile(path: "Sources/Circle/Device/" + name, "@_exported import FerryModel")
      return ImportRules.reexports(in: file).count
    }
    #expect(found == [1, 0])
  }

  private func streets(_ lists: String) -> [String] {
    StreetRules.violations(in: PackageMap(lists)).map(\.found)
  }

  @Test("A street that names one it may not name, and a module that names one below it, are found")
  func upward() {
    #expect(
      streets(
        """
        let ground: [Target] = [module("A", "Ground/A", ["B"])]
        let kit: [Target] = [module("B", "Kit/B")]
        """) == ["A (ground) names B (kit)"])
    #expect(
      streets(
        """
        let kit: [Target] = [
          module("A", "Kit/A", ["B"]),
          module("B", "Kit/B"),
        ]
        """) == ["A names B, which stands below it"])
  }

  @Test("A module of the server takes Model and Wire of the circle, and nothing else")
  func single() {
    #expect(
      streets(
        """
        let circle: [Target] = [
          module("FerryModel", "Circle/Model"),
          module("FerryInspection", "Circle/Inspection"),
        ]
        let server: [Target] = [
          module("FerryServer", "Server/Server", ["FerryModel", "FerryInspection"])
        ]
        """) == ["FerryServer (server) names FerryInspection (circle)"])
  }

  @Test("A module outside the folder of its street is found")
  func folder() {
    #expect(
      streets("let kit: [Target] = [module(\"A\", \"Ground/A\")]")
        == ["A of kit is in Sources/Ground/A"])
  }

  @Test("A device that imports the server is found")
  func sideways() {
    let found = streets(
      """
      let circle: [Target] = [module("Ferry", "Circle/A", ["FerryServer"])]
      let server: [Target] = [module("FerryServer", "Server/B")]
      """)
    #expect(
      found == [
        "Ferry (circle) names FerryServer (server)", "Ferry reaches FerryServer",
        "Ferry reaches FerryServer",
      ])
  }

  @Test("OData and Model that meet, by whatever way, are found")
  func strangers() {
    let found = streets(
      """
      let ground: [Target] = [
        module("FerryModel", "Ground/C"),
        module("Between", "Ground/B", ["FerryModel"]),
      ]
      let oData: [Target] = [module("FerryOData", "OData/A", ["Between"])]
      """)
    #expect(found == ["FerryOData reaches FerryModel"])
  }

  @Test("A second module with a C library, and one that is no hand, are found")
  func libraries() {
    let found = streets(
      """
      let ground: [Target] = [
        module("FerryCompression", "Ground/A", ["CZ"]), module("FerryCrypto", "Ground/B", ["CZ"]),
      ]
      let proof: [Target] = [module("C", "Proof/C", ["CZ"])]
      let clientLibraries: [Target] = [library("CZ")]
      """)
    #expect(
      found == ["C names CZ", "FerryCrypto is the second with CZ", "C is the second with CZ"])
  }

  @Test("A client that needs a library of the server is found")
  func phone() {
    let found = streets(
      """
      let circle: [Target] = [module("Ferry", "Circle/Device", ["FerryPasswords"])]
      let linuxServer: [Target] = [module("FerryPasswords", "Server/Passwords", ["CArgon2"])]
      let serverLibraries: [Target] = [library("CArgon2")]
      """)
    #expect(
      found == [
        "Ferry (circle) names FerryPasswords (server)", "Ferry reaches CArgon2",
        "Ferry reaches FerryPasswords",
      ])
  }

  @Test("A target in no street, and a name that is no target, are found")
  func strays() {
    #expect(streets("let targets = [module(\"A\", \"A\")]") == ["A stands in no street"])
    #expect(
      streets("let ground: [Target] = [module(\"A\", \"Ground/A\", [\"B\"])]")
        == ["A names B, which is no target"])
  }
}
