/// The transport of the system this runs on.
public enum SystemTransport {
  /// libcurl on one thread of its own here, URLSession on Apple's systems.
  public static func make(_ options: TransportOptions = TransportOptions()) -> any Transport {
    #if canImport(Darwin)
      URLSessionTransport(options)
    #else
      CurlTransport(options)
    #endif
  }
}
