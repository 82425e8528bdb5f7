// swift-tools-version: 6.2
import PackageDescription

// Measures of the house, each a ratio against a limit taken in the same run. Not part of the house:
// it depends on it, as an app does.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Ferry", path: "..")],
  targets: [
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CRawSQLite",
        .product(name: "Ferry", package: "Ferry"),
        .product(name: "FerrySQLite", package: "Ferry"),
        .product(name: "FerryModel", package: "Ferry"),
        .product(name: "FerryWire", package: "Ferry"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    // The limit is SQLite as C has it, without a line of ours between.
    .systemLibrary(name: "CRawSQLite"),
  ],
  swiftLanguageModes: [.v6]
)
