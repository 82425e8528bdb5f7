import FerryConnector
import FerryModel

extension CacheGroups {
  /// Ends a load between two pages.
  static let wasSuspended = ConnectorError(
    "The cache group was suspended while it was read", hint: "Nothing of it is used.",
    isTransient: false)
}

/// Loads of cache groups.
extension LoadHost {
  /// The load of a group whose time has come. The first load of the package comes before: it reads
  /// everything.
  func loadNextGroup() async throws(ServerError) {
    let groups = service.cacheGroups
    guard !groups.isEmpty, try await service.isLoaded(),
      let order = groups.next(at: world.clock.uptime, world.clock.now, world.log)
    else { return }
    let names = Set(order.entities)
    let entities = service.rules.loadOrder.filter { names.contains($0.name) }
    let connections = service.rules.connections
    let read = connections.names.indices.filter { connection in
      entities.contains { connections.position(of: $0.name) == connection }
    }
    var failure: String? = "the server's store failed"
    defer { groups.end(order, failure: failure, at: world.clock.uptime) }
    failure = try await loadGroup(order.name, entities, of: read)
    // What the load did not find is gone only when its key is not there either.
    if failure == nil { try await readAgain() }
  }

  /// The scopes of a connection that a load reads: what groups read is theirs.
  func scopes(of connection: Int, _ ticket: LoadTicket) -> [LoadScope] {
    guard let names = ticket.entities else { return allScopes(of: connection) }
    return allScopes(of: connection).map { scope in
      LoadScope(
        entities: scope.entities.filter { names.contains($0.name) }, parameters: scope.parameters)
    }.filter { !$0.entities.isEmpty }
  }
}
