import FerryOData
import FerryODataCache
import Foundation
import Testing

/// A service with flights and agencies, as bytes and as documents.
enum Service {
  static let document = Array(
    """
    <service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom"
      xmlns:sap="http://www.sap.com/Protocols/SAPData" xml:base="http://host/flights/">
      <workspace sap:semantics="data"><atom:title>Data</atom:title>
        <collection href="Flights"><atom:title>Flights</atom:title></collection>
        <collection href="Agencies"><atom:title>Agencies</atom:title></collection>
      </workspace>
      <workspace sap:semantics="worklists"><atom:title>Tasks</atom:title>
        <collection href="Tasks"><atom:title>Tasks</atom:title></collection>
      </workspace>
    </service>
    """.utf8)

  /// Flights name what is searched in two ways; agencies name nothing.
  static let metadata = Array(
    """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="F" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"
      xmlns:sap="http://www.sap.com/Protocols/SAPData"
      xmlns:gp="http://www.sap.com/Protocols/SAPData/GenericPlayer">
      <EntityType Name="Flight"><Key><PropertyRef Name="Number"/></Key>
        <Property Name="Number" Type="Edm.String" Nullable="false" sap:searchable="true"/>
        <Property Name="City" Type="Edm.String" gp:use-in-search="true"/>
        <Property Name="Note" Type="Edm.String"/>
        <Property Name="Seats" Type="Edm.Int32"/>
        <Property Name="Place" Type="F.Place"/>
      </EntityType>
      <EntityType Name="Charter" BaseType="F.Flight">
        <Property Name="Owner" Type="Edm.String"/>
      </EntityType>
      <ComplexType Name="Place">
        <Property Name="Gate" Type="Edm.String" sap:searchable="true"/>
        <Property Name="Hall" Type="Edm.String"/>
      </ComplexType>
      <EntityType Name="Agency"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
      </EntityType>
      <EntityType Name="Task" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      </EntityType>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Flights" EntityType="F.Flight"/>
        <EntitySet Name="Agencies" EntityType="F.Agency"/>
        <EntitySet Name="Tasks" EntityType="F.Task"/>
      </EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """.utf8)

  static func cache(_ uniqueID: String = "odata cache") throws -> ODataCache {
    let cache = ODataCache(uniqueID: uniqueID)
    try cache.setServiceDocument(document, metadata: metadata)
    return cache
  }

  static func flight(
    _ number: String, _ city: String = "", note: String? = nil, gate: String? = nil
  ) -> ODataEntry {
    var entry = ODataEntry(
      type: "F.Flight", ["Number": .string(number), "City": .string(city), "Seats": .int32(7)])
    entry.id = id(number)
    if let note { entry["Note"] = .string(note) }
    if let gate { entry["Place"] = .complex(EdmComplex(["Gate": .string(gate)])) }
    return entry
  }

  static func id(_ number: String) -> String { "http://host/flights/Flights('\(number)')" }

  static func agency(_ number: Int32, _ name: String) -> ODataEntry {
    var entry = ODataEntry(type: "F.Agency", ["ID": .int32(number), "Name": .string(name)])
    entry.id = "http://host/flights/Agencies(\(number))"
    return entry
  }
}

extension ODataCache {
  func numbers() -> [String] {
    entries(collection: "Flights").map { $0["Number"]?.string ?? "?" }
  }

  func found(_ text: String, _ collection: String = "Flights") throws -> [String] {
    try filterEntries(collection: collection, searchText: text).map {
      $0["Number"]?.string ?? $0["Name"]?.string ?? "?"
    }
  }
}

func reason(
  _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) -> ODataCacheError.Reason? {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    return nil
  } catch {
    let known = error as? ODataCacheError
    if known == nil { Issue.record("\(error)", sourceLocation: sourceLocation) }
    return known?.reason
  }
}
