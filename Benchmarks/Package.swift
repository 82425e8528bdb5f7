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
        "XMLPeer",
        .product(name: "FerryOData", package: "Ferry"),
        .product(name: "Ferry", package: "Ferry"),
        .product(name: "FerrySQLite", package: "Ferry"),
        .product(name: "FerryModel", package: "Ferry"),
        .product(name: "FerryWire", package: "Ferry"),
        .product(name: "FerryODataCache", package: "Ferry"),
        .product(name: "FerryPersistence", package: "Ferry"),
        .product(name: "FerryLogger", package: "Ferry"),
        .product(name: "FerryTelemetry", package: "Ferry"),
        .product(name: "FerryTrace", package: "Ferry"),
        .product(name: "FerryHTTPClient", package: "Ferry"),
        .product(name: "FerryWorld", package: "Ferry"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    // The limit is SQLite as C has it, without a line of ours between.
    .systemLibrary(name: "CRawSQLite"),
    // libxml2 as C uses it; the library itself comes with FerryOData.
    .target(
      name: "XMLPeer", cSettings: [.treatAllWarnings(as: .error), .enableWarning("all")]),
    .executableTarget(
      name: "RequestFigures",
      dependencies: [
        .product(name: "FerryODataClient", package: "Ferry"),
        .product(name: "FerryHTTPClient", package: "Ferry"),
        .product(name: "FerryOData", package: "Ferry"),
        .product(name: "FerryRESTConnector", package: "Ferry"),
        .product(name: "FerryModel", package: "Ferry"),
        .product(name: "FerryWorld", package: "Ferry"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "FeedMemory", dependencies: [.product(name: "FerryOData", package: "Ferry")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)
