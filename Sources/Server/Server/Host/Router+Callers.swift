import FerryHTTP

/// On whose account requests take up the server's room.
extension Router {
  /// The user of a good token, the network of the client, and whether the request is one of those for
  /// which room is kept free: who cannot log in can do nothing else.
  ///
  /// Any thread; asks no other.
  func caller(of request: HTTPRequest) -> HTTPCaller {
    let client = address(of: request)
    // Who says nothing of its clients has many.
    let network = proxies.contains(client) ? nil : LoginGuard.network(of: client)
    guard !Router.reservedPaths.contains(request.path) else {
      return HTTPCaller(address: network, usesReserve: true)
    }
    let token = request.bearerToken ?? ""
    let user = try? service.accessTokens.verify(token, now: service.world.clock.now).user
    return HTTPCaller(user: user, address: network)
  }

  private static let reservedPaths: Set<String> = [
    "/ferry/1/login", "/ferry/1/token", "/ferry/1/logout", "/ferry/1/wiped", "/health",
  ]
}
