import FerryModel

/// Makes the Swift source of a package: one type per entity, and one that names the package.
///
/// Ferry's types are written with their module, so that an app may have its own `ObjectRecord` or
/// `Entity`; every type is `nonisolated`, so that it is the same under any default isolation.
package enum SwiftRenderer {
  /// All of it in one text. `file` is where the model came from, for the comment at the top.
  package static func render(_ package: Package, from file: String) -> String {
    let parts =
      [head(file, hasDecimals(package) || package.entities.contains(where: hasDecimals))]
      + packageParts(package) + package.entities.map { EntityRenderer(package, $0).text }
    return text(parts)
  }

  /// The package's own part of it, without the entities.
  package static func renderPackage(_ package: Package, from file: String) -> String {
    text([head(file, hasDecimals(package))] + packageParts(package))
  }

  /// One entity's part of it.
  package static func render(
    _ entity: Entity, of package: Package, from file: String
  ) -> String {
    text([head(file, hasDecimals(entity)), EntityRenderer(package, entity).text])
  }

  private static func text(_ parts: [String]) -> String {
    parts.joined(separator: "\n\n") + "\n"
  }

  private static func packageParts(_ package: Package) -> [String] {
    [self.package(package)] + package.complexTypes.map { ComplexTypeRenderer($0).text }
  }

  private static func head(_ file: String, _ hasDecimals: Bool) -> String {
    let head = """
      // swift-format-ignore-file
      // Made by ferry-generate from \(SwiftLiteral.comment(file)); what is changed here is lost.
      public import Ferry
      public import FerryModel
      """
    guard hasDecimals else { return head }
    return head + """

      #if canImport(FoundationEssentials)
        public import FoundationEssentials
      #else
        public import Foundation
      #endif
      """
  }

  private static func hasDecimals(_ package: Package) -> Bool {
    package.complexTypes.flatMap(\.attributes).contains(where: isDecimal)
      || package.parameters.contains { $0.type == .decimal }
  }

  private static func hasDecimals(_ entity: Entity) -> Bool {
    entity.attributes.contains(where: isDecimal)
      || entity.queries.flatMap(\.parameters).contains { $0.type == .decimal }
  }

  private static func isDecimal(_ attribute: Attribute) -> Bool {
    attribute.type == .decimal || attribute.element == AttributeType.decimal.rawValue
  }

  private static func package(_ package: Package) -> String {
    let entities = package.entities.map { "      \($0.name).entity," }
    let groups = package.groups.map {
      "      FerryModel.SynchronizationGroup(name: \(SwiftLiteral.text($0.name))),"
    }
    let parameters = ParameterRenderer(package)
    return """
      /// The package \(package.id).
      public nonisolated enum \(package.name) {
        public static let package: FerryModel.Package = FerryModel.Package(
          name: \(SwiftLiteral.text(package.name)), version: \(SwiftLiteral.text(package.version)),
          entities: [
      \(entities.joined(separator: "\n"))
          ],
          groups: [
      \(groups.joined(separator: "\n"))
          ]\(complexTypes(package))\(parameters.argument))

        /// Opens the database of this package on the device, and makes it when it is not there.
        /// With a key it is sealed.
        public static func open(
          at path: String, key: Ferry.DatabaseKey? = nil, profile: Ferry.ConnectionProfile,
          durability: Ferry.Durability = .application,
          handler: (any Ferry.StepHandler)? = nil,
          migration: Ferry.MigrationPolicy = .keepPending
        ) throws(Ferry.FerryError) -> Ferry.FerryDatabase {
          try Ferry.FerryDatabase.open(
            at: path, key: key, package: package, profile: profile, durability: durability,
            handler: handler, migration: migration)
        }\(parameters.members)
      }
      """
  }

  /// By them the device checks the parts of what is saved.
  private static func complexTypes(_ package: Package) -> String {
    guard !package.complexTypes.isEmpty else { return "" }
    let types = package.complexTypes.map { type in
      """
            FerryModel.ComplexType(name: \(SwiftLiteral.text(type.name)), attributes: [
      \(type.attributes.map { SwiftLiteral.attribute($0, indent: "        ") }.joined(separator: "\n"))
            ]),
      """
    }
    return ",\n    complexTypes: [\n\(types.joined(separator: "\n"))\n    ]"
  }
}
