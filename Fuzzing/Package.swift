// swift-tools-version: 6.2
import PackageDescription

// Foreign bytes thrown at every parser that meets the network. Not part of the house: it depends on
// it, as an app does. Scripts/fuzz builds it, with the compiler's coverage in all modules.
// With FERRY_PLANT in the environment the program, and nothing else, is built with planted traps.
let planted: [SwiftSetting] =
  Context.environment["FERRY_PLANT"] == nil ? [] : [.define("FERRY_PLANT")]

let package = Package(
  name: "Fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Ferry", path: "..")],
  targets: [
    .target(name: "CLibFuzzer", cSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "Fuzz",
      dependencies: ["CLibFuzzer", .product(name: "FerryFuzzTargets", package: "Ferry")],
      swiftSettings: [.treatAllWarnings(as: .error)] + planted),
  ],
  swiftLanguageModes: [.v6]
)
