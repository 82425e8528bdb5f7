import FerryHTTP
import FerryHTTPClient
import FerryODataCache
import FerryODataClient
import FerryPersistence
import FerryPreferences
import FerryTrace
import FerryWorld

/// Hands preferences to the parts of an app: sessions, caches and stores.
///
/// A part follows a change at once: the next request has the new time-outs, headers and language,
/// and a cache has the new capacity when `set` returns.
///
/// ```swift
/// let applied = AppliedPreferences(preferences, world: .system())
/// let session = ODataSession(applied.transport(), options: applied.options())
/// try preferences.set(KnownPreferences.connectTimeoutMilliseconds, to: 3500)
/// ```
public struct AppliedPreferences: Sendable {
  private let preferences: Preferences
  private let applicationHeader: String
  private let chance: any Chance
  /// All requests of one run of the app belong to one session of the server's trace.
  private let rootID: TraceID

  /// `applicationHeader` is the name of the header with the value of
  /// `KnownPreferences.applicationIDHeader`; the service says which name it reads.
  public init(
    _ preferences: Preferences, applicationHeader: String = "X-Application-ID", world: World
  ) {
    self.preferences = preferences
    self.applicationHeader = applicationHeader
    chance = world.chance
    rootID = TraceID(world.chance)
  }

  /// What a request has now if it and its session set nothing.
  ///
  /// With `isPassportEnabled` each call has a new passport. A running trace adds its own to requests
  /// that have none, whatever the preference says.
  public func requestDefaults() -> ODataRequestDefaults {
    var defaults = ODataRequestDefaults()
    defaults.deadlines.connect = .milliseconds(
      preferences.value(of: KnownPreferences.connectTimeoutMilliseconds))
    defaults.deadlines.idle = .milliseconds(
      preferences.value(of: KnownPreferences.socketTimeoutMilliseconds))
    let language = preferences.value(of: KnownPreferences.language)
    if !language.isEmpty { defaults.language = language }
    defaults.httpsPort = Int(preferences.value(of: KnownPreferences.httpsPort))
    let application = preferences.value(of: KnownPreferences.applicationIDHeader)
    if !application.isEmpty { defaults.headers[applicationHeader] = application }
    if preferences.value(of: KnownPreferences.isPassportEnabled) {
      let passport = Passport(chance, rootID: rootID)
      defaults.headers[Passport.headerName] = passport.header
      defaults.headers[Passport.correlationHeaderName] = passport.correlationID
    }
    return defaults
  }

  /// The given options, with time-outs, language, application header, HTTPS port and passports that
  /// follow the preferences. A header of the options stays.
  public func options(
    _ options: ODataSessionOptions = ODataSessionOptions()
  ) -> ODataSessionOptions {
    var options = options
    options.currentDefaults = { requestDefaults() }
    return options
  }

  /// A transport that sends each request over the one that `KnownPreferences.handlerName` names.
  ///
  /// The empty name is `standard`. A name that `named` does not have fails each request with
  /// `TransportError.Code.cannotConnect`.
  public func transport(
    _ standard: any Transport = SystemTransport.make(), named: [String: any Transport] = [:]
  ) -> any Transport {
    PreferredTransport(preferences: preferences, standard: standard, named: named)
  }

  /// Gives a cache the capacity that is set now and later, until the returned value is cancelled.
  ///
  /// It starts the part `cache` of the preferences. Throws the errors of `Preferences.listen`.
  @discardableResult
  public func follow(_ cache: ODataCache) throws(PreferencesError) -> PreferenceListening {
    let listening = try preferences.listen(to: KnownPreferences.cacheCapacity) {
      [weak cache] capacity in cache?.capacity = Int(capacity)
    }
    preferences.start(.cache)
    // Again where another thread has set it meanwhile, so that the last value holds.
    var capacity: Int32
    repeat {
      capacity = preferences.value(of: KnownPreferences.cacheCapacity)
      cache.capacity = Int(capacity)
    } while capacity != preferences.value(of: KnownPreferences.cacheCapacity)
    return listening
  }

  /// Opens the store with the mode and in the folder that are set now. `folder` is used when none is
  /// set.
  ///
  /// Throws the errors of `Persistence.init`, such as `.otherMode` when the mode was changed after
  /// the store was made.
  public func openPersistence(
    folder: String, key: [UInt8]?
  ) throws(PersistenceError) -> Persistence {
    let preferred = preferences.value(of: KnownPreferences.persistenceFolder)
    return try Persistence(
      folder: preferred.isEmpty ? folder : preferred,
      isSecure: preferences.value(of: KnownPreferences.isPersistenceSecure), key: key)
  }
}

/// Looks for each request which transport is the preferred one.
private struct PreferredTransport: Transport {
  let preferences: Preferences
  let standard: any Transport
  let named: [String: any Transport]

  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
    let name = preferences.value(of: KnownPreferences.handlerName)
    if name.isEmpty { return try await standard.send(request) }
    guard let transport = named[name] else {
      throw TransportError(
        code: .cannotConnect, message: "no transport has the name \"\(name)\"",
        hint: "Give AppliedPreferences.transport one of this name, or reset the preference "
          + "\(KnownPreferences.handlerName.name).",
        isTransient: false, requestWasSent: false)
    }
    return try await transport.send(request)
  }
}
