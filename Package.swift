// swift-tools-version: 6.2
// The map of the house: one line per module, and what it may import. Tests/TidyTests keeps it true.
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let strictC: [CSetting] = [.treatAllWarnings(as: .error), .enableWarning("all")]

func module(
  _ name: String, _ path: String, _ imports: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: imports, path: "Sources/\(path)", resources: resources,
    swiftSettings: strict)
}

func library(_ name: String) -> Target {
  .systemLibrary(name: name, path: "Sources/System/\(name)")
}

/// C of our own beside the libraries. It includes SQLite's header; the library comes with FerrySQLite.
func native(_ name: String) -> Target {
  .target(name: name, path: "Sources/System/\(name)", cSettings: strictC)
}

func program(_ name: String, _ path: String, _ imports: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: imports, path: path, swiftSettings: strict)
}

/// Each has the traits of our own beside what it names.
func tests(
  _ name: String, _ path: String, _ imports: [Target.Dependency],
  plugins: [Target.PluginUsage] = []
) -> Target {
  .testTarget(
    name: name, dependencies: imports + ["FerryTestTraits"], path: "Tests/\(path)",
    swiftSettings: strict, plugins: plugins)
}

// Streets: folders of Sources, each with a list here. A module names the modules above it in its own
// street, and of other streets what the row of its street allows. Tests/TidyTests keeps it so.
//
//   street   may import
//   ground   nothing but the C libraries
//   circle   ground
//   kit      ground
//   oData    ground, kit
//   server   ground, kit, FerryModel and FerryWire of circle
//   offline  ground, kit, circle, oData, server
//   tools    all but samples and proof; `ferry` also the simulation
//   proof    all but tools and samples

// Ground: texts, clocks, files, the network. It knows nothing of business data.
let ground: [Target] = [
  module("FerryText", "Ground/Text"),
  module("FerryJSON", "Ground/JSON"),
  module("FerryWorld", "Ground/World"),
  module("FerryHTTP", "Ground/HTTP", ["FerryText"]),
  module("FerryCompression", "Ground/Compression", ["CZlib"]),
  module(
    "FerryCrypto", "Ground/Crypto",
    ["FerryText", .target(name: "COpenSSL", condition: .when(platforms: [.linux]))]),
  module("FerrySQLite", "Ground/SQLite", ["CSQLite", "CSealedVFS", "FerryCrypto"]),
  module(
    "FerryHTTPClient", "Ground/HTTPClient",
    [
      "FerryText", "FerryHTTP", "FerryCrypto",
      .target(name: "CCurl", condition: .when(platforms: [.linux])),
    ]),
]

// Circle: the model, the messages, and the device. The server is the other half of it.
let circle: [Target] = [
  module("FerryModel", "Circle/Model", ["FerryText", "FerryJSON"]),
  module(
    "FerryWire", "Circle/Wire",
    ["FerryText", "FerryModel", "FerryJSON", "FerryCompression", "FerryCrypto"]),
  module(
    "Ferry", "Circle/Device",
    [
      "FerryText", "FerryModel", "FerryJSON", "FerryWire", "FerryWorld", "FerryHTTP", "FerrySQLite",
      "FerryCrypto", "FerryCompression", "FerryHTTPClient",
    ]),
  // Live queries as properties of SwiftUI views (Decision 0159).
  module("FerryUI", "Circle/UI", ["Ferry"]),
  // The device's half: logins at a company's issuer (Decision 0058).
  module(
    "FerryOpenID", "Circle/OpenID",
    [
      "FerryText", "Ferry", "FerryModel", "FerryJSON", "FerryWorld", "FerryHTTP", "FerryCrypto",
      "FerryHTTPClient",
    ]),
  // The reference's own names, on the public API alone (Decision 0071).
  module("FerryReference", "Circle/Reference", ["Ferry"]),
  // What `ferry inspect` and `ferry why` read in a device's file; no app compiles it.
  module(
    "FerryInspection", "Circle/Inspection",
    ["Ferry", "FerryModel", "FerryJSON", "FerrySQLite", "FerryWire"]),
]

// Kit: parts of an app that work alone, without the network.
let kit: [Target] = [
  module("FerryVault", "Kit/Vault", ["FerryCrypto", "FerryWorld"]),
  module("FerryPersistence", "Kit/Persistence", ["FerryCrypto", "FerryWorld"]),
  module("FerryPreferences", "Kit/Preferences", ["FerryWorld"]),
  module("FerryLogger", "Kit/Logger", ["FerryText", "FerryWorld", "FerryCompression"]),
  // Screens of the two modules above, for SwiftUI.
  module("FerryKitUI", "Kit/UI", ["FerryLogger", "FerryPreferences"]),
  module("FerryTrace", "Kit/Trace", ["FerryText", "FerryWorld", "FerryJSON"]),
  module("FerryCertificates", "Kit/Certificates", ["FerryText", "FerryCrypto", "FerryWorld"]),
  // An app registers with a server, gets its settings and what services push (Decision 0140).
  module(
    "FerryRegistration", "Kit/Registration",
    ["FerryVault", "FerryJSON", "FerryHTTP", "FerryHTTPClient", "FerryCrypto", "FerryWorld"]),
  // The kit's traces and logs over a transport; the parts above never import one.
  module(
    "FerryTelemetry", "Kit/Telemetry",
    ["FerryTrace", "FerryLogger", "FerryHTTP", "FerryHTTPClient"]),
]

// OData: the SDK for apps that speak OData themselves.
let oData: [Target] = [
  // libxml2 is on Apple's systems too; it parses, and opens nothing.
  module("FerryOData", "OData/OData", ["FerryText", "FerryJSON", "FerryHTTP", "CLibXML2"]),
  // Beside the payloads: who reads a feed need not compile a grammar (Decision 0011).
  module(
    "FerryODataAddress", "OData/Address", ["FerryText", "FerryOData", "FerryHTTP", "FerryJSON"]),
  module("FerryODataBatch", "OData/Batch", ["FerryText", "FerryOData", "FerryJSON"]),
  // What a terminal shows of documents and addresses; no app compiles it.
  module(
    "FerryODataShell", "OData/Shell",
    ["FerryOData", "FerryODataAddress", "FerryODataBatch", "FerryJSON"]),
  module(
    "FerryODataCache", "OData/Cache", ["FerryOData", "FerryODataAddress", "FerryPersistence"]),
  // Metadata and a source in, answers out; it knows no model and no server (Decision 0123).
  module(
    "FerryODataService", "OData/Service",
    ["FerryOData", "FerryODataAddress", "FerryODataBatch", "FerryHTTP", "FerryJSON"]),
  module(
    "FerryODataClient", "OData/Client",
    [
      "FerryText", "FerryOData", "FerryODataAddress", "FerryODataBatch", "FerryHTTP",
      "FerryHTTPClient",
      "FerryCrypto", "FerryWorld",
      // Sealed, for the downloads that are kept for good.
      "FerryPersistence",
    ]),
  // The kit's preferences, handed to the parts that follow them (Decision 0104).
  module(
    "FerryAppliedPreferences", "OData/AppliedPreferences",
    [
      "FerryPreferences", "FerryODataClient", "FerryODataCache", "FerryPersistence", "FerryTrace",
      "FerryHTTP", "FerryHTTPClient", "FerryWorld",
    ]),
]

// Server: it replays changes at a business system and keeps what devices may have.
let server: [Target] = [
  module(
    "FerryConnector", "Server/Connector", ["FerryText", "FerryModel", "FerryJSON", "FerryWorld"]),
  module(
    "FerryMemoryConnector", "Server/Connectors/Memory",
    ["FerryConnector", "FerryModel", "FerryCrypto"]),
  module(
    "FerrySQLConnector", "Server/Connectors/SQL",
    ["FerryConnector", "FerryModel", "FerryJSON", "FerrySQLite", "FerryCrypto"]),
  // When the server asks the business system, by a file beside the model (Decision 0144).
  module(
    "FerryCachePolicies", "Server/CachePolicies",
    ["FerryConnector", "FerryModel", "FerryJSON", "FerryWorld"]),
  module(
    "FerryServer", "Server/Server",
    [
      "FerryText", "FerryModel", "FerryJSON", "FerryWire", "FerryWorld", "FerryHTTP", "FerryCrypto",
      "FerryCompression", "FerryConnector", "FerryTrace", "FerryCachePolicies",
    ]),
  // A service as business system: Ferry's own client, waited for on the connector's thread.
  module(
    "FerryODataConnector", "Server/Connectors/OData",
    [
      "FerryConnector", "FerryModel", "FerryOData", "FerryODataAddress", "FerryODataBatch",
      "FerryODataClient", "FerryHTTP", "FerryHTTPClient", "FerryTrace", "FerryJSON", "FerryWorld",
    ]),
  // A service of REST as business system, by a mapping (Decision 0131).
  module(
    "FerryRESTConnector", "Server/Connectors/REST",
    [
      "FerryText", "FerryConnector", "FerryModel", "FerryJSON", "FerryHTTP", "FerryHTTPClient",
      "FerryWorld",
    ]),
  // What other programs say they changed in the business system (Decision 0132).
  module(
    "FerryNotices", "Server/Notices",
    [
      "FerryText", "FerryServer", "FerryRESTConnector", "FerryModel", "FerryWire", "FerryJSON",
      "FerryHTTP",
      "FerryWorld", "FerryCrypto", "FerrySQLite",
    ]),
  // Where a server keeps what must outlive it (Decision 0036).
  module(
    "FerrySQLiteStore", "Server/SQLiteStore",
    [
      "FerryServer", "FerrySQLite", "FerryConnector", "FerryModel", "FerryWire", "FerryWorld",
      "FerryCrypto",
    ]),
  // Every package as a service of OData (Decision 0123).
  module(
    "FerryODataFace", "Server/ODataFace",
    [
      "FerryText", "FerryServer", "FerryModel", "FerryWire", "FerryWorld", "FerryHTTP", "FerryJSON",
      "FerryCrypto", "FerryODataService", "FerryOData", "FerryODataAddress",
    ]),
  // What operators see and decide, as JSON over HTTP (Decision 0148).
  module(
    "FerryAdmin", "Server/Admin",
    [
      "FerryServer", "FerryConnector", "FerryModel", "FerryWire", "FerryJSON", "FerryHTTP",
      "FerryCrypto", "FerryWorld",
    ]),
  // The same as pages for a browser.
  module(
    "FerryConsole", "Server/Console",
    ["FerryText", "FerryAdmin", "FerryModel", "FerryJSON", "FerryHTTP", "FerryWorld"],
    resources: [.embedInCode("console.css"), .embedInCode("console.js")]),
  // Push services of others, over HTTP/2 (Decision 0141).
  module(
    "FerryPush", "Server/Push",
    ["FerryText", "FerryHTTP", "FerryHTTPClient", "FerryCrypto", "FerryJSON", "FerryWorld"]),
  // The register of connections over HTTP (Decision 0140).
  module(
    "FerryApplications", "Server/Applications",
    [
      "FerryText", "FerryPush", "FerryHTTPClient", "FerryCompression",
      "FerryServer", "FerryRegistration", "FerryOData", "FerryHTTP", "FerryJSON", "FerryCrypto",
      "FerryWorld",
    ]),
  // Issuers and authorities whose tokens and certificates let users in (Decisions 0053, 0074).
  module(
    "FerryIssuers", "Server/Issuers",
    [
      "FerryText", "FerryServer", "FerryModel", "FerryJSON", "FerryWorld", "FerryCrypto",
      "FerryHTTP",
      "FerryHTTPClient", "FerryCertificates",
    ]),
]

// Offline: the device and the server in one process, for apps without a server (Decision 0154).
let offline: [Target] = [
  // A server in this process, and the way to it without a socket.
  module(
    "FerryLocalServer", "Offline/LocalServer",
    ["FerryServer", "FerryHTTP", "FerryHTTPClient", "FerryWorld"]),
  // A service of OData offline in the app.
  module(
    "FerryODataOffline", "Offline/ODataOffline",
    [
      "FerryLocalServer", "Ferry", "FerryServer", "FerrySQLiteStore", "FerryConnector",
      "FerryODataConnector", "FerryModel", "FerryHTTPClient", "FerryJSON", "FerryWorld",
    ]),
]

// Tools: a model in, Swift out; and the programs.
let tools: [Target] = [
  module("FerryArguments", "Tools/Arguments", ["FerryModel"]),
  module("FerryGenerator", "Tools/Generator", ["FerryModel", "FerryJSON", "FerrySQLite"]),
  module(
    "FerryODataReading", "Tools/ODataReading",
    ["FerryGenerator", "FerryModel", "FerryOData", "FerryODataClient", "FerryODataConnector"]),
  module(
    "FerryOpenAPIReading", "Tools/OpenAPIReading",
    ["FerryGenerator", "FerryModel", "FerryJSON", "FerryHTTP", "FerryHTTPClient"]),
  // The pending work of other products' databases (Decision 0160).
  module(
    "FerryTakeover", "Tools/Takeover",
    ["Ferry", "FerryModel", "FerryJSON", "FerrySQLite", "FerryCrypto"]),
  program(
    "FerryGenerate", "Sources/Tools/Programs/FerryGenerate", ["FerryGenerator", "FerryModel"]),
  // What tests of the kit kill.
  program(
    "FerryKitWriter", "Sources/Tools/Programs/FerryKitWriter",
    ["FerryVault", "FerryPersistence", "FerryCrypto", "FerryWorld"]),
  .plugin(name: "FerryPlugin", capability: .buildTool(), dependencies: ["FerryGenerate"]),
]

// Samples: a business to try it on.
let samples: [Target] = [
  .target(
    name: "FerryFlights", dependencies: ["FerrySQLite"], path: "Samples/Flights",
    resources: [
      .embedInCode("schema.sql"), .embedInCode("postgresql-tables.sql"),
      .embedInCode("postgresql-rules.sql"),
    ], swiftSettings: strict),
  program("FerrySample", "Samples/FlightsCommand", ["FerryFlights", "FerrySQLite"]),
  .target(
    name: "FerryTravel", dependencies: ["Ferry"], path: "Samples/Travel", swiftSettings: strict,
    plugins: ["FerryPlugin"]),
  .target(name: "CallSiteNeighbours", path: "Samples/Neighbours", swiftSettings: strict),
  .target(name: "SwiftUIStandIn", path: "Samples/SwiftUIStandIn", swiftSettings: strict),
  // An app's first week, beside the names of other libraries.
  .target(
    name: "FerryCallSites",
    dependencies: [
      "Ferry", "FerryUI", "FerryTravel", "FerryTestKit", "CallSiteNeighbours", "SwiftUIStandIn",
    ],
    path: "Samples/CallSites", swiftSettings: strict),
  program(
    "FerryKitSample", "Samples/Kit",
    [
      "FerryVault", "FerryPersistence", "FerryODataCache", "FerryOData", "FerryLogger",
      "FerryTrace", "FerryTelemetry", "FerryWorld",
    ]),
  program(
    "FerryDevice", "Samples/Device",
    [
      "FerryText", "Ferry", "FerryReference", "FerryModel", "FerryJSON", "FerrySQLite",
      "FerryHTTPClient",
      "FerryWorld", "FerryOpenID", "FerryTrace", "FerryLogger", "FerryTelemetry",
      "FerryODataClient", "FerryRegistration",
    ]),
]

// Proof: what shows that the other streets hold, some of it for the tests of an app.
let proof: [Target] = [
  // Faults of a disk, beneath SQLite, and for stores that are no database.
  module("FerryFaultVFS", "Proof/FaultVFS", ["CFaultVFS"]),
  module("FerryFaultFiles", "Proof/FaultFiles", ["FerryWorld"]),
  // What every connector must do, as a suite that a test runs.
  module(
    "FerryConformance", "Proof/Conformance",
    ["FerryConnector", "FerryModel", "FerryCrypto", "FerryWorld"]),
  // The same for stores of the server, and stores that spoil or hold verbs.
  module(
    "FerryStoreConformance", "Proof/StoreConformance",
    [
      "FerryServer", "FerrySQLiteStore", "FerryConnector", "FerryModel", "FerryJSON", "FerryWire",
      "FerryWorld", "FerryCrypto", "FerrySQLite",
    ]),
  // A server in memory for the tests of an app.
  module(
    "FerryTestKit", "Proof/TestKit",
    [
      "Ferry", "FerryServer", "FerrySQLiteStore", "FerryConnector", "FerryMemoryConnector",
      "FerryLocalServer", "FerryCachePolicies", "FerryModel", "FerryJSON", "FerryWire",
      "FerryHTTP", "FerryHTTPClient", "FerryWorld", "FerrySQLite",
    ]),
  // The trait for simulated tests; apart, so that no app compiles Testing for its previews.
  module("FerryTesting", "Proof/Testing", ["FerryTestKit"]),
  // What a fuzzer throws bytes at; the tests of the corpora call the same functions.
  module(
    "FerryFuzzTargets", "Proof/FuzzTargets",
    [
      "FerryText", "FerryOData", "FerryODataAddress", "FerryODataBatch", "FerryODataShell",
      "FerryWire",
      "FerryServer", "FerryModel", "FerryJSON", "FerryHTTP", "FerryCrypto", "FerryWorld",
      "FerryVault", "FerryPersistence", "FerryODataCache", "FerryPreferences", "FerryLogger",
      "FerryTrace", "FerryCertificates",
    ]),
]

// Tests: what each may see.
let testTargets: [Target] = [
  .target(name: "FerryTestTraits", path: "Tests/Traits", swiftSettings: strict),
  tests("FerryTidyTests", "TidyTests", []),
  tests("FerryJSONTests", "JSONTests", ["FerryJSON"]),
  tests("FerryModelTests", "ModelTests", ["FerryModel", "FerryJSON"]),
  tests("FerryCompressionTests", "CompressionTests", ["FerryCompression"]),
  tests("FerryTextTests", "TextTests", ["FerryText"]),
  tests("FerryCryptoTests", "CryptoTests", ["FerryCrypto"]),
  tests("FerryPreferencesTests", "PreferencesTests", ["FerryPreferences", "FerryWorld"]),
  tests(
    "FerryCertificatesTests", "CertificatesTests",
    ["FerryCertificates", "FerryCrypto", "FerryVault"]),
  tests(
    "FerryTelemetryTests", "TelemetryTests",
    [
      "FerryTelemetry", "FerryTrace", "FerryLogger", "FerryHTTP", "FerryHTTPClient", "FerryWorld",
    ]),
  tests("FerryTraceTests", "TraceTests", ["FerryTrace", "FerryWorld", "FerryJSON"]),
  tests(
    "FerryLoggerTests", "LoggerTests",
    ["FerryLogger", "FerryWorld", "FerryCompression", "FerryFaultFiles"]),
  tests(
    "FerryVaultTests", "VaultTests",
    ["FerryVault", "FerryFaultFiles", "FerryCrypto", "FerryWorld"]),
  tests(
    "FerryPersistenceTests", "PersistenceTests",
    ["FerryPersistence", "FerryFaultFiles", "FerryCrypto", "FerryWorld"]),
  tests(
    "FerryODataCacheTests", "ODataCacheTests",
    ["FerryODataCache", "FerryOData", "FerryODataAddress", "FerryPersistence"]),
  tests(
    "FerryWireTests", "WireTests",
    ["FerryWire", "FerryModel", "FerryJSON", "FerryCompression", "FerryCrypto"]),
  tests(
    "FerryGeneratorTests", "GeneratorTests",
    ["FerryGenerator", "FerryModel", "FerryJSON", "FerrySQLite", "FerryFlights"]),
  tests(
    "FerryGeneratedTests", "GeneratedTests", ["Ferry", "FerryReference", "FerryTestKit"],
    plugins: ["FerryPlugin"]),
  tests(
    "FerryReadmeTests", "ReadmeTests",
    ["Ferry", "FerryUI", "FerryTestKit", "FerryTesting", "SwiftUIStandIn"],
    plugins: ["FerryPlugin"]),
  tests(
    "FerryTestKitTests", "TestKitTests",
    [
      "FerryText", "FerryTestKit", "FerryTesting", "Ferry", "FerryReference", "FerryTravel",
      "FerryCallSites",
      "FerryModel", "FerryServer", "FerryAdmin", "FerryJSON",
      "FerrySQLite", "FerryHTTP",
      "FerryHTTPClient", "FerryWorld", "FerryConnector", "FerryMemoryConnector", "FerryWire",
      "FerryVault",
    ]),
  tests(
    "FerryConnectorTests", "ConnectorTests",
    [
      "FerryConnector", "FerryMemoryConnector", "FerrySQLConnector", "FerryConformance",
      "FerryModel",
      "FerrySQLite", "FerryFlights", "FerryCrypto", "FerryWorld",
    ]),
  tests(
    "FerryODataConnectorTests", "ODataConnectorTests",
    [
      "FerryODataConnector", "FerryODataReading", "FerryConnector", "FerryConformance",
      "FerryGenerator", "FerryModel", "FerryOData", "FerryODataBatch", "FerryHTTP",
      "FerryHTTPClient", "FerryWorld",
    ]),
  tests(
    "FerryODataOfflineTests", "ODataOfflineTests",
    [
      "FerryODataOffline", "FerryODataConnector", "FerryODataService", "FerryOData",
      "FerryODataAddress", "FerryConnector", "FerryLocalServer", "Ferry", "FerryModel",
      "FerryHTTP", "FerryHTTPClient", "FerryJSON", "FerryWorld",
    ], plugins: ["FerryPlugin"]),
  tests(
    "FerryRESTConnectorTests", "RESTConnectorTests",
    [
      "FerryRESTConnector", "FerryOpenAPIReading", "FerryConnector", "FerryGenerator",
      "FerryModel", "FerryJSON", "FerryHTTP", "FerryHTTPClient", "FerryWorld",
    ]),
  tests(
    "FerrySQLiteTests", "SQLiteTests", ["FerrySQLite", "FerryCrypto", "FerryFaultVFS"]),
  tests(
    "FerryKitTests", "KitTests",
    [
      "FerryKitSample", "FerryKitWriter", "FerryVault", "FerryPersistence", "FerryODataCache",
      "FerryPreferences", "FerryLogger", "FerryTrace", "FerryTelemetry", "FerryCertificates",
      "FerryHTTPClient", "FerryOData", "FerryCrypto", "FerryWorld", "FerryAppliedPreferences",
      "FerryODataClient",
    ]),
  tests("FerryHTTPTests", "HTTPTests", ["FerryHTTP"]),
  tests("FerryFuzzTests", "FuzzTests", ["FerryFuzzTargets"]),
  tests(
    "FerryODataTests", "ODataTests",
    ["FerryOData", "FerryODataBatch", "FerryODataShell", "FerryJSON"]),
  tests(
    "FerryODataAddressTests", "ODataAddressTests",
    ["FerryODataAddress", "FerryODataShell", "FerryOData", "FerryJSON"]),
  tests(
    "FerryODataServiceTests", "ODataServiceTests",
    [
      "FerryODataService", "FerryOData", "FerryODataAddress", "FerryODataBatch", "FerryHTTP",
      "FerryJSON",
    ]),
  tests(
    "FerryODataFaceTests", "ODataFaceTests",
    [
      "FerryODataFace", "FerryODataService", "FerryOData", "FerryServer", "FerryTestKit", "Ferry",
      "FerryTravel",
      "FerryModel", "FerryHTTP", "FerryJSON", "FerryWorld",
    ]),
  tests(
    "FerryAdminTests", "AdminTests",
    [
      "FerryText", "FerryAdmin", "FerryConsole", "FerryServer", "FerryModel", "FerryWire",
      "FerryHTTP",
      "FerryJSON", "FerryWorld",
    ]),
  tests(
    "FerryApplicationsTests", "ApplicationsTests",
    [
      "FerryApplications", "FerryPush", "FerryRegistration", "FerryVault", "FerryServer",
      "FerryTrace", "FerryTelemetry",
      "FerrySQLiteStore",
      "FerryOData", "FerryCrypto",
      "FerryModel", "FerryHTTP", "FerryHTTPClient", "FerryJSON", "FerryWorld", "FerryFaultFiles",
    ]),
  tests(
    "FerryNoticesTests", "NoticesTests",
    [
      "FerryText", "FerryNotices", "FerryServer", "FerryTestKit", "Ferry", "FerryTravel",
      "FerryModel",
      "FerryHTTP", "FerryJSON", "FerryWorld", "FerryCrypto",
    ]),
  tests(
    "FerryCachePoliciesTests", "CachePoliciesTests",
    ["FerryCachePolicies", "FerryConnector", "FerryModel", "FerryWorld"]),
  tests(
    "FerryServerTests", "ServerTests",
    [
      "FerryText", "FerryServer", "FerryCachePolicies", "FerrySQLiteStore", "FerryConformance",
      "FerryStoreConformance",
      "FerryConnector", "FerryMemoryConnector", "FerryHTTP",
      "FerryWire", "FerryModel", "FerryJSON", "FerryWorld", "FerrySQLite", "FerryCrypto",
      "FerryFaultVFS", "FerryCompression", "FerryTrace",
    ]),
  tests(
    "FerryUITests", "UITests",
    [
      "FerryUI", "Ferry", "FerryTestKit", "FerryTravel", "FerryKitUI", "FerryLogger",
      "FerryPreferences", "FerryWorld",
    ]),
  tests(
    "FerryOpenIDTests", "OpenIDTests",
    [
      "FerryText", "FerryOpenID", "Ferry", "FerryJSON", "FerryHTTP", "FerryHTTPClient",
      "FerryWorld",
      "FerryCrypto",
    ]),
  tests(
    "FerryIssuersTests", "IssuersTests",
    [
      "FerryText", "FerryIssuers", "FerryServer", "FerryModel", "FerryJSON", "FerryWorld",
      "FerryCrypto",
      "FerryCertificates",
    ]),
  tests(
    "FerryClientTests", "ClientTests",
    [
      "Ferry", "FerryReference", "FerryInspection", "FerryTravel", "FerryWire", "FerryModel",
      "FerryJSON", "FerryWorld", "FerrySQLite",
      "FerryHTTPClient", "FerryFaultVFS", "FerryCrypto",
    ]),
]

let clientLibraries: [Target] = [
  library("CSQLite"), library("CZlib"), library("COpenSSL"), library("CCurl"),
  library("CLibXML2"),
  native("CSealedVFS"), native("CFaultVFS"),
]

var targets =
  clientLibraries + ground + circle + kit + oData + server + offline + tools + proof + samples
  + testTargets
var products: [Product] = [
  .library(name: "Ferry", targets: ["Ferry"]),
  .library(name: "FerryUI", targets: ["FerryUI"]),
  .library(name: "FerryReference", targets: ["FerryReference"]),
  .library(name: "FerryOData", targets: ["FerryOData", "FerryODataAddress", "FerryODataBatch"]),
  // With the business system of its server, which a test reads and changes.
  .library(name: "FerryTestKit", targets: ["FerryTestKit", "FerryMemoryConnector"]),
  .library(name: "FerryTesting", targets: ["FerryTesting"]),
  // For those who write a connector: what it implements, and the suite that tests it. A server for it
  // is no product: Decision 0152.
  .library(name: "FerryConnector", targets: ["FerryConnector", "FerryModel"]),
  .library(
    name: "FerryConformance", targets: ["FerryConformance", "FerryConnector", "FerryModel"]),
  .library(name: "FerryVault", targets: ["FerryVault"]),
  .library(name: "FerryPersistence", targets: ["FerryPersistence"]),
  .library(name: "FerryODataCache", targets: ["FerryODataCache"]),
  .library(name: "FerryHTTPClient", targets: ["FerryHTTPClient", "FerryHTTP"]),
  .library(name: "FerryODataClient", targets: ["FerryODataClient"]),
  .library(
    name: "FerryODataOffline", targets: ["FerryODataOffline", "FerryConnector", "FerryHTTPClient"]),
  .library(name: "FerryODataConnector", targets: ["FerryODataConnector", "FerryConnector"]),
  .library(name: "FerryRESTConnector", targets: ["FerryRESTConnector", "FerryConnector"]),
  .library(name: "FerryPreferences", targets: ["FerryPreferences"]),
  .library(name: "FerryAppliedPreferences", targets: ["FerryAppliedPreferences"]),
  .library(name: "FerryLogger", targets: ["FerryLogger"]),
  .library(name: "FerryTrace", targets: ["FerryTrace"]),
  .library(name: "FerryKitUI", targets: ["FerryKitUI"]),
  .library(name: "FerryTelemetry", targets: ["FerryTelemetry"]),
  .library(name: "FerryCertificates", targets: ["FerryCertificates"]),
  .library(name: "FerryRegistration", targets: ["FerryRegistration"]),
  .library(name: "FerryOpenID", targets: ["FerryOpenID"]),
  // What Fuzzing/ throws bytes at.
  .library(name: "FerryFuzzTargets", targets: ["FerryFuzzTargets"]),
  // What Benchmarks/ measures by itself.
  .library(name: "FerrySQLite", targets: ["FerrySQLite"]),
  .library(name: "FerryModel", targets: ["FerryModel"]),
  .library(name: "FerryWorld", targets: ["FerryWorld"]),
  .library(name: "FerryWire", targets: ["FerryWire"]),
  .plugin(name: "FerryPlugin", targets: ["FerryPlugin"]),
  // Under the target's own name, by which a plugin of this package looks for its tool.
  .executable(name: "FerryGenerate", targets: ["FerryGenerate"]),
  .executable(name: "ferry-sample", targets: ["FerrySample"]),
  .executable(name: "ferry-device", targets: ["FerryDevice"]),
  .executable(name: "ferry-kit", targets: ["FerryKitSample"]),
]

#if os(Linux)
  // The server's own libraries: no device ever needs their headers.
  let serverLibraries: [Target] = [
    library("CMicroHTTPD"), library("CArgon2"), library("CLinux"), library("CPostgreSQL"),
    library("CMariaDB"),
  ]
  let linuxServer: [Target] = [
    module("FerryPasswords", "Server/Passwords", ["CArgon2"]),
    module("FerryPostgreSQL", "Server/PostgreSQL", ["CPostgreSQL"]),
    module("FerryMariaDB", "Server/MariaDB", ["CMariaDB"]),
    module(
      "FerryHTTPServer", "Server/HTTPServer", ["FerryHTTP", "FerryWorld", "CMicroHTTPD", "CLinux"]),
    // The door to the company's services (Decision 0125).
    module(
      "FerryProxy", "Server/Proxy",
      [
        "FerryText", "FerryHTTP", "FerryHTTPClient", "FerryJSON", "FerryWorld", "FerryCrypto",
        "FerryTrace",
      ]),
    // Named security configurations: stacks of those who know passwords (Decision 0137).
    module(
      "FerrySecurity", "Server/Security",
      [
        "FerryServer", "FerryModel", "FerryJSON", "FerryWorld", "FerryCrypto", "FerryHTTP",
        "FerryHTTPClient",
      ]),
    module(
      "FerryPostgreSQLConnector", "Server/Connectors/PostgreSQL",
      // The threads of several connections (Decision 0066).
      ["FerryText", "FerryConnector", "FerryModel", "FerryJSON", "FerryPostgreSQL", "FerryWorld"]),
    module(
      "FerryMariaDBConnector", "Server/Connectors/MariaDB",
      ["FerryConnector", "FerryModel", "FerryJSON", "FerryMariaDB", "FerryWorld"]),
    module(
      "FerryPostgreSQLStore", "Server/PostgreSQLStore",
      [
        "FerryText", "FerryServer", "FerryPostgreSQL", "FerryConnector", "FerryModel", "FerryWire",
        "FerryJSON", "FerryWorld", "FerryHTTP", "FerryCrypto",
      ]),
  ]
  // A false world in which the very code that ships is driven from a seed.
  let linuxProof: [Target] = [
    module(
      "FerrySimulation", "Proof/Simulation",
      [
        "Ferry", "FerryReference", "FerryServer", "FerrySQLiteStore", "FerryModel", "FerryJSON",
        "FerryWire",
        "FerryWorld", "FerryHTTP", "FerrySQLite", "FerryFaultVFS", "FerryConnector",
        "FerryMemoryConnector", "FerryCrypto", "FerryConformance", "FerryStoreConformance",
      ])
  ]
  let linuxTools: [Target] = [
    module(
      "FerryPostgreSQLReading", "Tools/PostgreSQLReading",
      // Which types a column can hold (Decision 0106).
      ["FerryGenerator", "FerryModel", "FerryPostgreSQL", "FerryPostgreSQLConnector"]),
    module(
      "FerryMariaDBReading", "Tools/MariaDBReading",
      ["FerryGenerator", "FerryModel", "FerryMariaDB", "FerryMariaDBConnector"]),
    // The connections of a server to business systems, and as whom it asks them (Decision 0121).
    module(
      "FerryConnections", "Tools/Connections",
      [
        "FerryText", "FerryModel", "FerryJSON", "FerryWorld", "FerryHTTP", "FerryHTTPClient",
        "FerryCrypto",
        "FerryConnector", "FerryServer", "FerrySQLite", "FerrySQLConnector", "FerryPostgreSQL",
        "FerryPostgreSQLConnector", "FerryODataConnector", "FerryRESTConnector",
        "FerryMariaDB", "FerryMariaDBConnector", "FerryCachePolicies",
      ]),
    program(
      "Ferryd", "Sources/Tools/Programs/Ferryd",
      [
        "FerryConnections",
        "FerryArguments", "FerryServer", "FerrySQLiteStore", "FerryHTTPServer", "FerryHTTP",
        "FerryIssuers", "FerryHTTPClient", "FerryPasswords", "FerryCertificates", "FerryProxy",
        "FerrySecurity",
        "FerryModel", "FerryJSON", "FerryWorld", "FerrySQLConnector", "FerryConnector",
        "FerrySQLite", "FerryCrypto", "FerryGenerator",
        "FerryWire", "FerryPostgreSQL", "FerryPostgreSQLConnector", "FerryPostgreSQLStore",
        "FerryODataFace", "FerryODataConnector", "FerryApplications", "FerryRESTConnector",
        "FerryNotices", "FerryCachePolicies", "FerryAdmin", "FerryConsole",
      ]),
    program(
      "FerryCommand", "Sources/Tools/Programs/FerryCommand",
      [
        "FerryText", "FerryConnections", "FerryConnector", "FerryCachePolicies",
        "FerryApplications", "FerryPush",
        "FerryArguments", "FerryGenerator", "FerryModel", "FerryJSON",
        "FerryODataShell", "FerryOData", "FerryODataClient", "FerryODataReading", "FerryHTTP",
        "FerryOpenAPIReading", "FerryRESTConnector", "FerryODataFace",
        "FerryHTTPClient", "FerryHTTPServer", "FerryOpenID", "FerryIssuers", "FerryServer",
        "FerryProxy", "FerrySecurity", "FerryCertificates",
        "FerrySQLiteStore", "Ferry", "FerryInspection", "FerrySimulation",
        "FerryPasswords", "FerryWorld",
        "FerrySQLite", "FerryWire",
        "FerryLogger", "FerryTakeover", "FerryPostgreSQL",
        "FerryPostgreSQLConnector", "FerryPostgreSQLReading", "FerrySQLConnector", "FerryCrypto",
        "FerryPostgreSQLStore", "FerryMariaDB", "FerryMariaDBConnector", "FerryMariaDBReading",
      ]),
  ]
  let linuxSamples: [Target] = [
    // What a story on the terminal needs: a server and devices as processes, and the comparison.
    .target(
      name: "FerryStage",
      dependencies: [
        "FerryModel", "FerryJSON", "FerrySQLite", "FerryPostgreSQL", "FerryPasswords",
        "FerryFlights",
      ], path: "Samples/Stage", swiftSettings: strict),
    program(
      "FerryDemo", "Samples/Demo",
      [
        "FerryStage", "FerryModel", "FerryJSON", "FerrySQLite", "FerryPostgreSQL", "FerryCrypto",
      ]),
  ]
  let linuxTests: [Target] = [
    // Servers and waits of several test targets.
    .target(name: "FerryTestSupport", path: "Tests/Support", swiftSettings: strict),
    tests(
      "FerryCommandTests", "CommandTests",
      [
        "FerryCommand", "FerryPush", "FerryTakeover",
        "FerryJSON", "FerryArguments", "FerryServer", "FerryPasswords", "Ferry",
        "FerryInspection",
        "FerryModel", "FerryCrypto",
        "FerrySQLite", "FerrySQLiteStore", "FerryWorld", "FerryLogger",
      ]),
    tests("FerryPasswordsTests", "PasswordsTests", ["FerryPasswords"]),
    tests(
      "FerryConnectionsTests", "ConnectionsTests",
      [
        "FerryConnections", "FerryConnector", "FerryModel", "FerryJSON", "FerryHTTP",
        "FerryHTTPClient", "FerryCrypto", "FerryWorld",
      ]),
    tests(
      "FerryPostgreSQLTests", "PostgreSQLTests",
      [
        "FerryPostgreSQL", "FerryPostgreSQLConnector", "FerryPostgreSQLReading",
        "FerryPostgreSQLStore", "FerryServer", "FerryWorld", "FerryWire", "FerryConnector",
        "FerryConformance", "FerryStoreConformance", "FerryModel", "FerryGenerator", "FerrySQLite",
        "FerrySQLiteStore",
        "FerryCrypto",
      ]),
    tests(
      "FerryMariaDBTests", "MariaDBTests",
      [
        "FerryMariaDB", "FerryMariaDBConnector", "FerryMariaDBReading", "FerryConnector",
        "FerryConformance", "FerryModel", "FerryGenerator",
      ]),
    tests(
      "FerrySimulationTests", "SimulationTests",
      ["FerrySimulation", "Ferry", "FerryConnector", "FerryModel", "FerryWire", "FerryWorld"]),
    tests(
      "FerryHTTPServerTests", "HTTPServerTests",
      ["FerryHTTPServer", "FerryHTTP", "FerryHTTPClient", "FerryWorld", "FerryTestSupport"]),
    tests(
      "FerryProxyTests", "ProxyTests",
      [
        "FerryProxy", "FerryHTTPServer", "FerryHTTP", "FerryHTTPClient", "FerryWorld",
        "FerryCrypto", "FerryTestSupport",
      ]),
    tests(
      "FerrySecurityTests", "SecurityTests",
      [
        "FerrySecurity", "FerryServer", "FerryHTTP", "FerryHTTPClient", "FerryHTTPServer",
        "FerryWorld", "FerryCrypto", "FerryTestSupport",
      ]),
    tests(
      "FerryODataClientTests", "ODataClientTests",
      [
        "FerryODataClient", "FerryOData", "FerryODataAddress", "FerryODataBatch", "FerryHTTP",
        "FerryHTTPClient",
        "FerryPersistence", "FerryCommand", "FerryAppliedPreferences", "FerryPreferences",
        "FerryODataCache", "FerryTrace", "FerryTelemetry", "FerryWorld", "FerryTestSupport",
      ]),
    tests(
      "FerryHTTPClientTests", "HTTPClientTests",
      ["FerryHTTPServer", "FerryHTTP", "FerryHTTPClient", "FerryTestSupport"]),
    // Rounds in which processes are killed, for Scripts/check kill. No product: nobody else runs it.
    program(
      "FerryRounds", "Tests/Rounds",
      [
        "FerryStage", "FerryModel", "FerryJSON", "FerrySQLite", "FerryPostgreSQL", "FerryFlights",
      ]),
    // For Scripts/check allocations. No product: nobody else runs it.
    program(
      "FerryAllocations", "Tests/Allocations",
      ["Ferry", "FerryTestKit", "FerryTravel", "FerryModel", "FerryOData"]),
    // The whole circle: the programs are dependencies so that they are built with the tests.
    tests(
      "FerryWayTests", "WayTests",
      [
        "FerryText", "Ferryd", "FerryCommand", "FerryDevice", "FerrySample", "Ferry", "FerryServer",
        "FerryWire", "FerryModel", "FerryJSON", "FerryWorld", "FerrySQLite", "FerrySQLConnector",
        "FerryConnector", "FerryFlights", "FerryPasswords", "FerryHTTP", "FerryHTTPClient",
        "FerryRounds", "FerryFaultVFS", "FerryCertificates", "FerryHTTPServer", "FerryCrypto",
      ]),
  ]
  targets += serverLibraries + linuxServer + linuxProof + linuxTools + linuxSamples + linuxTests
  products += [
    .executable(name: "ferryd", targets: ["Ferryd"]),
    .executable(name: "ferry", targets: ["FerryCommand"]),
    .executable(name: "ferry-demo", targets: ["FerryDemo"]),
  ]
#endif

let package = Package(
  name: "Ferry",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: products,
  targets: targets,
  swiftLanguageModes: [.v6]
)
