/// The defaults of every part, in one place, under the names of the reference's SDK.
///
/// `AppliedPreferences` of the module FerryAppliedPreferences hands them to the parts.
public enum KnownPreferences {
  /// The port of HTTPS, 1 to 65,535; 443.
  public static let httpsPort = PreferenceKey<Int32>(
    "SDM_CONNECTIVITY_HTTPS_PORT", default: 443, in: 1...65_535, part: .connectivity)
  /// The time to connect in milliseconds, 1 to 3,600,000; 10,000.
  public static let connectTimeoutMilliseconds = PreferenceKey<Int32>(
    "SDM_CONNECTIVITY_CONNTIMEOUT", default: 10_000, in: 1...3_600_000,
    aliases: ["CONNECTION_TIMEOUT_MS"], part: .connectivity)
  /// The time between two pieces of an answer in milliseconds, 1 to 3,600,000; 60,000.
  public static let socketTimeoutMilliseconds = PreferenceKey<Int32>(
    "SDM_CONNECTIVITY_SCONNTIMEOUT", default: 60_000, in: 1...3_600_000, part: .connectivity)
  /// The language of texts, as `de` or `pt-BR`; empty for that of the system.
  public static let language = PreferenceKey<String>(
    "FERRY_CONNECTIVITY_LANGUAGE", default: "", part: .connectivity
  ) { text in
    text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    } ? nil : "\"\(text)\" is not a language such as de or pt-BR"
  }
  /// The name of the transport that sends requests; empty for the standard one.
  public static let handlerName = PreferenceKey<String>(
    "SDM_CONNECTIVITY_HANDLER_CLASS_NAME", default: "", part: .connectivity)
  /// Whether what is stored is sealed; true.
  public static let isPersistenceSecure = PreferenceKey<Bool>(
    "SDM_PERSISTENCE_SECUREMODE", default: true, aliases: ["PERSISTENCE_SECUREMODE_BOOLEAN"],
    part: .persistence)
  /// The folder of the store; empty for the one that the app gives.
  public static let persistenceFolder = PreferenceKey<String>(
    "PERSISTENCE_DEFAULTFOLDER_PATH_STRING", default: "", part: .persistence)
  /// The name of the group of apps that share the store; empty for none.
  ///
  /// No part of Ferry reads it: an app that shares a store chooses its folder by it.
  public static let persistenceAccessGroup = PreferenceKey<String>(
    "PERSISTENCE_ACCESS_CONTROL_SIGNER_ID", default: "", part: .persistence)
  /// The folder of the reader's own data; empty for the app's folder of caches.
  ///
  /// Ferry's reader keeps nothing on the disk, so no part of Ferry reads it.
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
    "SAP_APPLICATIONID_HEADER_VALUE", default: "", part: .connectivity
  ) { text in
    text.unicodeScalars.allSatisfy { (32..<127).contains($0.value) }
      ? nil : "the value of a header has printable ASCII signs only"
  }

  /// All of them, in the order above.
  public static let all: [AnyPreferenceKey] = [
    httpsPort.erased, connectTimeoutMilliseconds.erased, socketTimeoutMilliseconds.erased,
    language.erased, handlerName.erased, isPersistenceSecure.erased, persistenceFolder.erased,
    persistenceAccessGroup.erased, parserFolder.erased, cacheCapacity.erased,
    isPassportEnabled.erased, applicationIDHeader.erased,
  ]
}
