/// The transport of the system this runs on.
public enum SystemTransport {
  /// libcurl on one thread of its own here, URLSession on Apple's systems.
  public static func make() -> any Transport {
    #if canImport(Darwin)
      URLSessionTransport()
    #else
      CurlTransport()
    #endif
  }
}
