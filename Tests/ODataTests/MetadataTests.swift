import FerryOData
import FerryTestTraits
import Testing

@Suite("Metadata") struct MetadataTests {
  @Test(
    "V2 metadata with an association in another namespace is read whole",
    .reference("adr/PBX-4", "adr/PBX-5"))
  func version2() throws {
    let metadata = try EdmMetadata.read(Samples.metadata2.bytes, strict: true)
    #expect(metadata.version == .v2)
    #expect(metadata.diagnostics.isEmpty)
    let carrier = try #require(metadata.entityType("FLIGHT.Carrier"))
    #expect(metadata.keys(of: carrier).map(\.name) == ["carrid"])
    let flights = try #require(metadata.navigationProperty("Flights", of: carrier))
    #expect(flights.type == EdmTypeReference("FLIGHT.Flight", isCollection: true))
    let set = try #require(metadata.entitySet("CarrierCollection"))
    #expect(metadata.target(of: "Flights", from: set)?.name == "FlightCollection")
    #expect(set.sap.searchable)
    let name = try #require(metadata.property("CARRNAME", of: carrier))
    #expect(name.sap.semantics == "name")
    #expect(!name.sap.sortable)
    #expect(name.facets.maxLength == 20)
    #expect(name.mappings.first?.targetPath == "SyndicationTitle")
    let flight = try #require(metadata.entityType("FLIGHT.Flight"))
    #expect(metadata.hasStream(flight))
    let function = try #require(metadata.functionImport("CheckAvailability"))
    #expect(function.method == "GET")
    #expect(function.parameters.map(\.name) == ["airlineid", "seats"])
    #expect(function.sap.actionFor == "FLIGHT.Flight")
  }

  @Test("V4 metadata resolves aliases, inherited keys, bindings and targeted annotations")
  func version4() throws {
    let metadata = try EdmMetadata.read(Samples.metadata4.bytes, strict: true)
    #expect(metadata.version == .v4)
    let product = try #require(metadata.entityType("self.Product"))
    #expect(product.qualifiedName == "Shop.Model.Product")
    #expect(metadata.keys(of: product).map(\.name) == ["ID"])
    #expect(metadata.properties(of: product).first?.name == "ID")
    #expect(metadata.isType("Shop.Model.Product", derivedFrom: "self.Thing"))
    #expect(metadata.primitive("Shop.Model.Kilogram") == .decimal)
    #expect(metadata.enumType("self.Color")?.isFlags == true)
    #expect(metadata.operations("self.Top").first?.isComposable == true)
    #expect(metadata.actionImport("Reset")?.action == "Shop.Model.Reset")
    let set = try #require(metadata.entitySet("Products"))
    #expect(metadata.target(of: "Parts", from: set)?.name == "Products")
    let notes = metadata.annotations(of: "self.Product/Name")
    #expect(notes.map(\.term).first == "com.sap.vocabularies.Common.v1.Label")
    #expect(notes.first { $0.qualifier == "long" }?.value.string == "What it is called")
    let list = try #require(notes.last?.value)
    #expect(list["CollectionPath"]?.string == "Products")
    #expect(list["Parameters"]?.elements.first?["LocalDataProperty"]?.anyPath == "Name")
  }

  @Test("Faults are listed with their place, and refused when reading strictly")
  func faults() throws {
    let text = """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
      <edmx:DataServices><Schema Namespace="A" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
      <EntityType Name="X" BaseType="A.Y"/>
      <EntityType Name="Y" BaseType="A.X">
        <Property Name="p" Type="Edm.String" MaxLength="variable" Nullable="perhaps"/>
        <Property Name="q" Type="A.Missing" sap:label="undeclared prefix"/>
        <NavigationProperty Name="n" Relationship="A.None" FromRole="a" ToRole="b"/>
      </EntityType>
      <EntityContainer Name="C" Extends="A.C"><EntitySet Name="S" EntityType="A.Z"/></EntityContainer>
      </Schema></edmx:DataServices></edmx:Edmx>
      """
    let metadata = try EdmMetadata.read(text.bytes)
    let all = metadata.diagnostics.map(\.message).joined(separator: "\n")
    for part in [
      "A.X derives from itself", "A.Missing is not declared", "MaxLength", "Nullable",
      "association A.None", "A.C extends itself", "entity type A.Z", "prefix sap",
    ] {
      #expect(all.contains(part), "\(part) in \(all)")
    }
    let note = try #require(metadata.diagnostics.first { $0.message.contains("A.Missing") })
    #expect(note.place.line == 6)
    #expect(note.place.path == "/Edmx/DataServices/Schema/EntityType[2]/Property[2]")
    #expect(metadata.property("q", of: try #require(metadata.entityType("A.Y")))?.sap.label != nil)
    #expect(throws: ODataError.self) { try EdmMetadata.read(text.bytes, strict: true) }
  }

  /// V2 metadata around the elements of one schema.
  private func document(_ inner: String) -> [UInt8] {
    """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <edmx:DataServices m:DataServiceVersion="2.0">
    <Schema Namespace="A" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <EntityType Name="E"><Key><PropertyRef Name="k"/></Key>
      <Property Name="k" Type="Edm.Int32" Nullable="false"/></EntityType>
    \(inner)
    </Schema></edmx:DataServices></edmx:Edmx>
    """.bytes
  }

  private func container(_ inner: String, _ isDefault: String = "true") -> String {
    """
    <EntityContainer Name="C" m:IsDefaultEntityContainer="\(isDefault)">
    <EntitySet Name="S" EntityType="A.E"/>\(inner)</EntityContainer>
    """
  }

  private func call(_ attributes: String, _ parameters: String = "") -> String {
    container("<FunctionImport Name=\"F\" \(attributes)>\(parameters)</FunctionImport>")
  }

  @Test("What no service may offer under V2 is listed, and refused when reading strictly")
  func rules() throws {
    let part = "<Parameter Name=\"p\" Type=\"Edm.String\"/>"
    let cases: [(String, String?)] = [
      (call("m:HttpMethod=\"PROXY\""), "PROXY is not a method that calls a function"),
      (call("m:HttpMethod=\"GET\"", part + part), "the parameter p is declared twice"),
      (
        call("m:HttpMethod=\"GET\" ReturnType=\"Collection(A.E)\""),
        "F returns entities of no set"
      ),
      (
        call("m:HttpMethod=\"GET\" ReturnType=\"Edm.Int32\" EntitySet=\"S\""),
        "F names the set S and returns Edm.Int32"
      ),
      (
        container("", "maybe")
          + "<EntityContainer Name=\"D\" m:IsDefaultEntityContainer=\"true\"/>",
        "IsDefaultEntityContainer=\"maybe\" is neither true nor false"
      ),
      (container("", "false"), "no container is the default"),
      ("<EntityContainer Name=\"C\"/>", "no container is the default"),
      (
        container("") + "<EntityContainer Name=\"D\" m:IsDefaultEntityContainer=\"true\"/>",
        "A.C is the default container as well"
      ),
      (
        "<ComplexType Name=\"X\"><Property Name=\"x\" Type=\"Edm.String\" m:HasStream=\"true\"/>"
          + "</ComplexType>", "the property x has HasStream"
      ),
      (
        "<ComplexType Name=\"X\"><Property Name=\"x\" Type=\"Edm.String\" m:MimeType=\"http://h\"/>"
          + "</ComplexType>", "MimeType=\"http://h\" is not a media type"
      ),
      (
        "<ComplexType Name=\"X\"><Property Name=\"y\" Type=\"A.Y\" Nullable=\"false\"/></ComplexType>"
          + "<ComplexType Name=\"Y\"><Property Name=\"x\" Type=\"A.X\" Nullable=\"false\"/>"
          + "</ComplexType>", "A.X contains itself"
      ),
      // What is allowed.
      (call("m:HttpMethod=\"GET\" ReturnType=\"Collection(A.E)\" EntitySet=\"S\"", part), nil),
      (call("m:HttpMethod=\"MERGE\" ReturnType=\"Collection(Edm.Int32)\""), nil),
      (
        "<ComplexType Name=\"X\"><Property Name=\"x\" Type=\"A.X\"/><Property Name=\"t\""
          + " Type=\"Edm.String\" m:MimeType=\"text/plain; charset=utf-8\"/></ComplexType>", nil
      ),
    ]
    for (inner, message) in cases {
      let found = try EdmMetadata.read(document(inner)).diagnostics
      #expect(found.map(\.message) == (message.map { [$0] } ?? []), "\(inner)")
      #expect(found.allSatisfy { $0.place.line >= 7 && !$0.consequence.isEmpty })
      if message != nil {
        #expect(throws: ODataError.self) { try EdmMetadata.read(document(inner), strict: true) }
      }
    }
    let operations = Samples.metadata4.replacing(
      "<Action Name=\"Reset\"/>", with: "<Action Name=\"Reset\">\(part)\(part)</Action>")
    #expect(
      try EdmMetadata.read(operations.bytes).diagnostics.map(\.message)
        == ["the parameter p is declared twice"])
  }

  @Test("A chain of complex types that need each other is told once, however long it is")
  func endless() throws {
    let chain = (0..<20_000).map {
      "<ComplexType Name=\"T\($0)\"><Property Name=\"p\" Type=\"A.T\(($0 + 1) % 20_000)\""
        + " Nullable=\"false\"/></ComplexType>"
    }
    let found = try EdmMetadata.read(document(chain.joined())).diagnostics
    #expect(found.map(\.message) == ["A.T0 contains itself"])
  }

  @Test(
    "A reserved alias is told, in XML and JSON, and means nothing", arguments: ["Edm", "odata"])
  func reservedAlias(_ alias: String) throws {
    let xml = Samples.metadata4.replacing("Alias=\"self\"", with: "Alias=\"\(alias)\"")
      .replacing("self.", with: "Shop.Model.")
    let json = """
      {"$Version":"4.01","Shop":{"$Alias":"\(alias)","T":{"$Kind":"ComplexType",
       "a":{"$Type":"Edm.Int32"}}}}
      """
    for text in [xml, json] {
      let metadata = try EdmMetadata.read(text.bytes)
      #expect(metadata.diagnostics.map(\.message) == ["the alias \(alias) is reserved"])
      #expect(
        metadata.complexType("\(alias).Size") == nil && metadata.complexType("\(alias).T") == nil)
    }
  }

  @Test("CSDL JSON says the same as XML")
  func json() throws {
    let text = """
      {"$Version":"4.01","$EntityContainer":"Shop.Container",
       "$Reference":{"https://example.org/core.json":{"$Include":[
         {"$Namespace":"Org.OData.Core.V1","$Alias":"Core"}]}},
       "Shop":{"$Alias":"self",
        "Thing":{"$Kind":"EntityType","$Abstract":true,"$Key":["ID"],
          "ID":{"$Type":"Edm.Guid"}},
        "Product":{"$Kind":"EntityType","$BaseType":"self.Thing","$HasStream":true,
          "Name":{"$Nullable":true,"$MaxLength":40,"@Core.Description":"its name",
            "@Core.Description@Core.IsLanguageDependent":true},
          "Price":{"$Type":"Edm.Decimal","$Scale":"variable"},
          "Tags":{"$Collection":true},
          "Parts":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"self.Product",
            "$ReferentialConstraint":{"Name":"Name"}}},
        "Color":{"$Kind":"EnumType","$IsFlags":true,"Red":1,"Red@Core.Description":"hot","Green":2},
        "Weight":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Decimal"},
        "Top":[{"$Kind":"Function","$IsBound":true,"$Parameter":[{"$Name":"p","$Type":"self.Product"}],
          "$ReturnType":{"$Type":"Edm.Int32"}}],
        "Reset":[{"$Kind":"Action"}],
        "Container":{"$Kind":"EntityContainer",
          "Products":{"$Collection":true,"$Type":"self.Product",
            "$NavigationPropertyBinding":{"Parts":"Products"}},
          "Best":{"$Type":"self.Product"},
          "Reset":{"$Action":"self.Reset"}},
        "$Annotations":{"self.Product":{"@Core.LongDescription#x":{"$Path":"Name"}}}}}
      """
    let metadata = try EdmMetadata.read(text.bytes, strict: true)
    let product = try #require(metadata.entityType("Shop.Product"))
    #expect(metadata.keys(of: product).map(\.name) == ["ID"])
    let name = try #require(metadata.property("Name", of: product))
    #expect(name.facets.maxLength == 40 && name.facets.isNullable)
    #expect(name.annotations.first?.value.string == "its name")
    #expect(name.annotations.first?.annotations.first?.value.boolean == true)
    #expect(metadata.property("Tags", of: product)?.type.isCollection == true)
    #expect(metadata.enumType("Shop.Color")?.members.first?.annotations.count == 1)
    #expect(metadata.singleton("Best") != nil && metadata.entitySet("Products") != nil)
    #expect(metadata.annotations(of: "self.Product").first?.value == .path("Name"))
    #expect(metadata.operations("Shop.Top").count == 1)
  }

  @Test("References that go in circles are read once each; one that dangles is reported")
  func references() throws {
    func document(_ space: String, _ uri: String) -> [UInt8] {
      """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
      <edmx:Reference Uri="\(uri)"><edmx:Include Namespace="Other"/></edmx:Reference>
      <edmx:Reference Uri="gone"/>
      <edmx:DataServices><Schema Namespace="\(space)" xmlns="http://docs.oasis-open.org/odata/ns/edm">
      <ComplexType Name="T"/></Schema></edmx:DataServices></edmx:Edmx>
      """.bytes
    }
    var asked: [String] = []
    let metadata = try EdmMetadata.read(document("A", "b")) { uri throws(ODataError) in
      asked.append(uri)
      return uri == "b" ? document("B", "a") : uri == "a" ? document("A", "b") : nil
    }
    #expect(asked.sorted() == ["a", "b", "gone"])
    #expect(metadata.complexType("B.T") != nil)
    #expect(metadata.diagnostics.map(\.message) == ["the reference gone was not found"])
  }
}
