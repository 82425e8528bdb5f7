import FerryModel

/// A package as requests find it.
struct ServedPackage: Sendable {
  let package: Package
  let service: ServiceHost
  let contents: ContentHost
  /// Asks for a load, and waits for nothing.
  let load: @Sendable () -> Void

  init(
    _ package: Package, _ service: ServiceHost, _ contents: ContentHost,
    load: @escaping @Sendable () -> Void
  ) {
    self.package = package
    self.service = service
    self.contents = contents
    self.load = load
  }
}
