import FerryWorld

/// Asks who someone is, on a thread of its own: a password takes long to verify on purpose.
public actor Doorkeeper {
  private let executor = ThreadExecutor(name: "ferry-passwords")
  nonisolated let provider: any AuthenticationProvider

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  public init(_ provider: any AuthenticationProvider) { self.provider = provider }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    try provider.authenticate(user: user, password: password)
  }
}
