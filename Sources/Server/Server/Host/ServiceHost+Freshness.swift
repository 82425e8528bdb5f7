/// Looks for changes of others, as the host that makes them reports them.
extension ServiceHost {
  func beginLook(forRows: Bool, of connection: Int) -> Int64 {
    service.beginLook(forRows: forRows, of: connection)
  }

  func endLook(_ look: Int64, needsLoad: Bool, of connection: Int) {
    service.endLook(look, needsLoad: needsLoad, of: connection)
  }

  /// The looks that a question of now is about.
  var looksNeeded: NeededLooks { service.looksNeeded }

  /// Whether the cache holds what such a question is about.
  func isCurrent(_ needed: NeededLooks) -> Bool { service.isCurrent(needed) }

  func failLook(_ look: Int64, of connection: Int) { service.failLook(look, of: connection) }
}

extension ServiceHost {
  /// From now on a load of a cache group begins as soon as it is wanted, and who waits for it hears of
  /// its end.
  nonisolated func connectCacheGroups() {
    cacheGroups.connect(
      onWanted: { [weak self] in self?.callReaders() },
      onEnd: { [weak self] in
        guard let self else { return }
        self.executor.perform { self.assumeIsolated { host in host.service.groupsChanged() } }
      })
  }

  /// Whether other nodes use the store.
  var sharesStore: Bool { service.store.isShared }

  /// Throws where another node leads in the store by now.
  func requireLead() throws(ServerError) { try service.probe() }
}
