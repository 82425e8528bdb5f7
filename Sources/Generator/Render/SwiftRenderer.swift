import FerryModel

/// Makes the Swift source of a package: one type per entity, and one that names the package.
///
/// Ferry's types are written with their module, so that an app may have its own `Record` or
/// `Entity`; every type is `nonisolated`, so that it is the same under any default isolation.
public enum SwiftRenderer {
  /// `file` is where the model came from, for the comment at the top.
  public static func render(_ package: Package, from file: String) -> String {
    let attributes =
      package.entities.flatMap(\.attributes) + package.complexTypes.flatMap(\.attributes)
    let parameters = package.entities.flatMap(\.queries).flatMap(\.parameters)
    let hasDecimals =
      attributes.contains { $0.type == .decimal || $0.element == AttributeType.decimal.rawValue }
      || parameters.contains { $0.type == .decimal }
      || package.parameters.contains { $0.type == .decimal }
    var parts = [
      """
      // swift-format-ignore-file
      // Made by ferry-generate from \(SwiftLiteral.comment(file)); what is changed here is lost.
      public import Ferry
      """
    ]
    if hasDecimals {
      parts[0] += """

        #if canImport(FoundationEssentials)
          public import FoundationEssentials
        #else
          public import Foundation
        #endif
        """
    }
    parts.append(self.package(package))
    for type in package.complexTypes { parts.append(ComplexTypeRenderer(type).text) }
    for entity in package.entities { parts.append(EntityRenderer(package, entity).text) }
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static func package(_ package: Package) -> String {
    let entities = package.entities.map { "      \($0.name).entity," }
    let groups = package.groups.map {
      "      Ferry.SynchronizationGroup(name: \(SwiftLiteral.text($0.name))),"
    }
    let parameters = ParameterRenderer(package)
    return """
      /// The package \(package.id).
      public nonisolated enum \(package.name) {
        public static let package: Ferry.Package = Ferry.Package(
          name: \(SwiftLiteral.text(package.name)), version: \(SwiftLiteral.text(package.version)),
          entities: [
      \(entities.joined(separator: "\n"))
          ],
          groups: [
      \(groups.joined(separator: "\n"))
          ]\(parameters.argument))

        /// Opens the database of this package on the device, and makes it when it is not there.
        /// With a key it is sealed.
        public static func open(
          at path: String, key: Ferry.DatabaseKey? = nil, profile: Ferry.ConnectionProfile,
          durability: Ferry.Durability = .application,
          callbackHandler: (any Ferry.CallbackHandler)? = nil
        ) throws(Ferry.FerryError) -> Ferry.Database {
          try Ferry.Database.open(
            at: path, key: key, package: package, profile: profile, durability: durability,
            callbackHandler: callbackHandler)
        }\(parameters.members)
      }
      """
  }
}
