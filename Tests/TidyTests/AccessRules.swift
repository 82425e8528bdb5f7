import Testing

/// What a module publishes that nobody outside of the package can have a use for.
enum AccessRules {
  /// Modules that no product names, with types that the public API of a product names.
  static let named: Set = ["FerryJSON", "FerryCrypto", "FerryCompression"]

  /// Every `public` in a module that no library product names.
  static func violations(in file: SourceFile, map: PackageMap) -> [Violation] {
    guard let target = map.target(of: file.path), !named.contains(target.name) else { return [] }
    let isPublished = map.products.contains {
      $0.kind == "library" && $0.targets.contains(target.name)
    }
    guard !isPublished else { return [] }
    let tokens = file.tokens
    return tokens.indices.filter { isAccess(tokens, $0) }.map {
      file.violation(
        tokens[$0].line, "a module that no product names publishes nothing",
        "public in \(target.name)",
        cure: "write package, or give the module to a product in Package.swift")
    }
  }

  /// `public` as the access of a declaration, and not as the case of an enumeration.
  private static func isAccess(_ tokens: [Token], _ index: Int) -> Bool {
    tokens[index].text == "public" && (index == 0 || tokens[index - 1].text != ".")
      && (index == 0 || tokens[index - 1].text != "case")
      && (index == 0 || tokens[index - 1].text != "`")
  }
}

@Suite("What is public")
struct AccessTests {
  @Test("A module that no product names publishes nothing")
  func modules() {
    expectNone(House.sources.flatMap { AccessRules.violations(in: $0, map: House.map) })
  }

  @Test(
    "A public declaration in a module of no product is found, and in one of a product it is not")
  func found() {
    let map = PackageMap(
      """
      let circle: [Target] = [module("Ferry", "Circle/Device")]
      let server: [Target] = [module("FerryServer", "Server/Server")]
      var products: [Product] = [
        .library(name: "Ferry", targets: ["Ferry"]),
        .executable(name: "ferryd", targets: ["FerryServer"]),
      ]
      """)
    let text =
      "public struct A {\n  @inlinable public var b: Access { .public }\n  package let c = 1\n}"
    let lines = ["Circle/Device", "Server/Server"].map { folder in
      AccessRules.violations(in: SourceFile(path: "Sources/\(folder)/A.swift", text), map: map)
        .map(\.line)
    }
    #expect(lines == [[], [1, 2]])
  }
}
