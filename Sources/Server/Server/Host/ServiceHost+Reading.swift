/// What readers bring.
extension ServiceHost {
  /// From a reader's thread: the service takes it when its thread is free.
  nonisolated func finish(_ pending: PendingRead, _ result: Result<PageRead.Round, StoreError>) {
    executor.perform { self.assumeIsolated { host in host.service.finish(pending, result) } }
  }
}
