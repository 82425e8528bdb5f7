import FerryHTTPClient

extension FerryError {
  /// A request that failed on its way.
  ///
  /// The transport advises those who repeat a request themselves. Ferry repeats its own, and the
  /// server knows what it has already.
  static func offline(_ error: TransportError) -> FerryError {
    let isLost = [.cut, .timedOut].contains(error.code)
    return FerryError(
      .offline, error.message,
      hint: isLost
        ? "Ferry connects again by itself. Changes stay on the device until the server has them."
        : error.hint,
      isTransient: true, cause: error)
  }
}
