import FerryModel

/// A package as requests find it.
struct ServedPackage: Sendable {
  let package: Package
  let service: ServiceHost
  let contents: ContentHost

  init(_ package: Package, _ service: ServiceHost, _ contents: ContentHost) {
    self.package = package
    self.service = service
    self.contents = contents
  }
}
