import FerryOData
import FerryRegistration

/// What the service `applications` offers, made from the table of properties.
enum ApplicationsMetadata {
  static let space: String = "applications"
  static let connection: String = "applications.Connection"
  /// Of the attribute that marks what an app may not change.
  static let ferrySpace: String = "http://www.sybase.com/sup/odata"

  static let text: String = {
    let properties = ConnectionProperty.all.map { property in
      let isKey = property.name == "ApplicationConnectionId"
      return "        <Property Name=\"\(property.name)\" Type=\"\(edm(property.kind))\""
        + " Nullable=\"\(isKey ? "false" : "true")\""
        + (property.isReadOnly ? " sup:ReadOnly=\"true\"" : "") + "/>"
    }
    func readOnly(_ name: String, _ type: String = "Edm.String", isKey: Bool = false) -> String {
      "        <Property Name=\"\(name)\" Type=\"\(type)\" Nullable=\"\(isKey ? "false" : "true")\""
        + " sup:ReadOnly=\"true\"/>"
    }
    return """
      <?xml version="1.0" encoding="utf-8"?>
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="2.0">
          <Schema Namespace="applications" xmlns="http://schemas.microsoft.com/ado/2008/09/edm" xmlns:sup="\(ferrySpace)">
            <EntityType Name="Connection">
              <Key><PropertyRef Name="ApplicationConnectionId"/></Key>
      \(properties.joined(separator: "\n"))
            </EntityType>
            <EntityType Name="Endpoint">
              <Key><PropertyRef Name="EndpointName"/></Key>
      \(readOnly("EndpointName", isKey: true))
      \(readOnly("RemoteURL"))
      \(readOnly("AnonymousAccess", "Edm.Boolean"))
            </EntityType>
            <EntityType Name="Capability">
              <Key><PropertyRef Name="ApplicationConnectionId"/><PropertyRef Name="Category"/><PropertyRef Name="CapabilityName"/></Key>
      \(readOnly("ApplicationConnectionId", isKey: true))
      \(readOnly("Category", isKey: true))
      \(readOnly("CapabilityName", isKey: true))
      \(readOnly("CapabilityValue"))
            </EntityType>
            <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
              <EntitySet Name="Connections" EntityType="applications.Connection"/>
              <EntitySet Name="Endpoints" EntityType="applications.Endpoint"/>
              <EntitySet Name="Capabilities" EntityType="applications.Capability"/>
            </EntityContainer>
          </Schema>
        </edmx:DataServices>
      </edmx:Edmx>

      """
  }()

  /// Nil never, unless the table has a name that is none.
  static let metadata: EdmMetadata? = try? EdmMetadata.read(Array(text.utf8))

  private static func edm(_ kind: PropertyValue.Kind) -> String {
    switch kind {
    case .text: "Edm.String"
    case .integer: "Edm.Int32"
    case .boolean: "Edm.Boolean"
    case .moment: "Edm.DateTime"
    }
  }
}
