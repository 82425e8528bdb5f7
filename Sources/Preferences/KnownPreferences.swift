/// The defaults of every part, in one place, under the names of the reference's SDK.
public enum KnownPreferences {
  /// The port of HTTPS, 1 to 65,535; 443.
  public static let httpsPort = PreferenceKey<Int32>(
    "SDM_CONNECTIVITY_HTTPS_PORT", default: 443, in: 1...65_535, part: .connectivity)
  /// The time to connect in milliseconds, 1 to 3,600,000; 60,000.
  public static let connectTimeoutMilliseconds = PreferenceKey<Int32>(
    "SDM_CONNECTIVITY_CONNTIMEOUT", default: 60_000, in: 1...3_600_000,
    aliases: ["CONNECTION_TIMEOUT_MS"], part: .connectivity)
  /// The time between two pieces of an answer in milliseconds, 1 to 3,600,000; 60,000.
  public static let socketTimeoutMilliseconds = PreferenceKey<Int32>(
    "SDM_CONNECTIVITY_SCONNTIMEOUT", default: 60_000, in: 1...3_600_000, part: .connectivity)
  /// The name of the handler that sends requests; empty for the part's own.
  public static let handlerName = PreferenceKey<String>(
    "SDM_CONNECTIVITY_HANDLER_CLASS_NAME", default: "", part: .connectivity)
  /// Whether what is stored is sealed; true.
  public static let isPersistenceSecure = PreferenceKey<Bool>(
    "SDM_PERSISTENCE_SECUREMODE", default: true, aliases: ["PERSISTENCE_SECUREMODE_BOOLEAN"],
    part: .persistence)
  /// The folder of the store; empty for the app's folder of caches.
  public static let persistenceFolder = PreferenceKey<String>(
    "PERSISTENCE_DEFAULTFOLDER_PATH_STRING", default: "", part: .persistence)
  /// The name of the group of apps that share the store; empty for none.
  public static let persistenceAccessGroup = PreferenceKey<String>(
    "PERSISTENCE_ACCESS_CONTROL_SIGNER_ID", default: "", part: .persistence)
  /// The folder of the reader's own data; empty for the app's folder of caches.
  public static let parserFolder = PreferenceKey<String>(
    "PARSER_DEFAULTFOLDER_PATH", default: "", part: .parser)
  /// The most entries that a collection keeps; 0 for no bound.
  public static let cacheCapacity = PreferenceKey<Int32>(
    "SDM_CACHE_CAPACITY", default: 0, in: 0...Int32.max, aliases: ["CACHE_MAX_ELEMENT_NR"],
    part: .cache)
  /// Whether requests carry a passport; false.
  public static let isPassportEnabled = PreferenceKey<Bool>(
    "SAPPASSPORT_ENABLED", default: false, aliases: ["SDM_TRACEING_ENABLED"], part: .trace)
  /// The value of the header that names the app; empty for none.
  public static let applicationIDHeader = PreferenceKey<String>(
    "SAP_APPLICATIONID_HEADER_VALUE", default: "", part: .connectivity)

  /// All of them, in the order above.
  public static let all: [AnyPreferenceKey] = [
    httpsPort.erased, connectTimeoutMilliseconds.erased, socketTimeoutMilliseconds.erased,
    handlerName.erased, isPersistenceSecure.erased, persistenceFolder.erased,
    persistenceAccessGroup.erased, parserFolder.erased, cacheCapacity.erased,
    isPassportEnabled.erased, applicationIDHeader.erased,
  ]
}
