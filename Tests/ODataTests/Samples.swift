/// Documents that several tests read.
enum Samples {
  static let metadata2 = """
    <?xml version="1.0" encoding="utf-8"?>
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
      xmlns:sap="http://www.sap.com/Protocols/SAPData">
    <!-- a comment -->
    <edmx:DataServices m:DataServiceVersion="2.0">
    <Schema Namespace="FLIGHT" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"
      sap:schema-version="1">
      <EntityType Name="Carrier" sap:label="Airline">
        <Key><PropertyRef Name="carrid"/></Key>
        <Property Name="carrid" Type="Edm.String" Nullable="false" MaxLength="3"
          sap:label="Airline" sap:updatable="false" sap:text="CARRNAME"/>
        <Property Name="CARRNAME" Type="Edm.String" MaxLength="20" sap:semantics="name"
          sap:sortable="false" m:FC_TargetPath="SyndicationTitle" m:FC_KeepInContent="true"/>
        <Property Name="Home" Type="FLIGHT.Address" Nullable="false"/>
        <NavigationProperty Name="Flights" Relationship="ASSOC.CarrierFlights"
          FromRole="Carrier" ToRole="Flight"/>
      </EntityType>
      <EntityType Name="Flight" m:HasStream="true">
        <Key><PropertyRef Name="carrid"/><PropertyRef Name="connid"/><PropertyRef Name="fldate"/></Key>
        <Property Name="carrid" Type="Edm.String" Nullable="false"/>
        <Property Name="connid" Type="Edm.String" Nullable="false"/>
        <Property Name="fldate" Type="Edm.DateTime" Nullable="false" Precision="0"/>
        <Property Name="PRICE" Type="Edm.Decimal" Precision="15" Scale="2" sap:unit="CURRENCY"/>
        <Property Name="CURRENCY" Type="Edm.String" sap:semantics="currency-code"/>
        <Property Name="SEATSMAX" Type="Edm.Int32"/>
        <Property Name="MILES" Type="Edm.Int64"/>
        <Property Name="DURATION" Type="Edm.Time"/>
      </EntityType>
      <ComplexType Name="Address">
        <Property Name="City" Type="Edm.String"/>
        <Property Name="Zip" Type="Edm.String"/>
      </ComplexType>
      <EntityContainer Name="FLIGHT_Entities" m:IsDefaultEntityContainer="true">
        <EntitySet Name="CarrierCollection" EntityType="FLIGHT.Carrier" sap:searchable="true"/>
        <EntitySet Name="FlightCollection" EntityType="FLIGHT.Flight" sap:creatable="false"
          sap:requires-filter="true"/>
        <AssociationSet Name="CarrierFlightsSet" Association="ASSOC.CarrierFlights">
          <End EntitySet="CarrierCollection" Role="Carrier"/>
          <End EntitySet="FlightCollection" Role="Flight"/>
        </AssociationSet>
        <FunctionImport Name="CheckAvailability" ReturnType="FLIGHT.Address" m:HttpMethod="GET"
          sap:action-for="FLIGHT.Flight">
          <Parameter Name="airlineid" Type="Edm.String" Mode="In"/>
          <Parameter Name="seats" Type="Edm.Int32" Mode="In"/>
        </FunctionImport>
      </EntityContainer>
    </Schema>
    <Schema Namespace="ASSOC" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
      <Association Name="CarrierFlights">
        <End Type="FLIGHT.Carrier" Multiplicity="1" Role="Carrier"/>
        <End Type="FLIGHT.Flight" Multiplicity="*" Role="Flight"/>
        <ReferentialConstraint>
          <Principal Role="Carrier"><PropertyRef Name="carrid"/></Principal>
          <Dependent Role="Flight"><PropertyRef Name="carrid"/></Dependent>
        </ReferentialConstraint>
      </Association>
    </Schema>
    </edmx:DataServices></edmx:Edmx>
    """

  static let metadata4 = """
    <?xml version="1.0" encoding="utf-8"?>
    <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
    <edmx:Reference Uri="https://example.org/core.xml">
      <edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
      <edmx:Include Namespace="com.sap.vocabularies.Common.v1" Alias="Common"/>
    </edmx:Reference>
    <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop.Model" Alias="self">
      <EntityType Name="Thing" Abstract="true">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Guid" Nullable="false">
          <Annotation Term="Common.Label" String="Number"/>
        </Property>
      </EntityType>
      <EntityType Name="Product" BaseType="self.Thing" OpenType="true">
        <Property Name="Name" Type="Edm.String" MaxLength="40"/>
        <Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
        <Property Name="Weight" Type="self.Kilogram"/>
        <Property Name="Color" Type="self.Color" Nullable="false"/>
        <Property Name="Tags" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="Size" Type="self.Size"/>
        <Property Name="Sizes" Type="Collection(self.Size)"/>
        <Property Name="Place" Type="Edm.GeographyPoint"/>
        <Property Name="Stamp" Type="Edm.DateTimeOffset" Precision="7"/>
        <Property Name="Day" Type="Edm.Date"/>
        <Property Name="Open" Type="Edm.TimeOfDay"/>
        <Property Name="Span" Type="Edm.Duration"/>
        <Property Name="Big" Type="Edm.Int64"/>
        <Property Name="Ratio" Type="Edm.Double"/>
        <Property Name="Photo" Type="Edm.Stream"/>
        <Property Name="Blob" Type="Edm.Binary"/>
        <NavigationProperty Name="Parts" Type="Collection(self.Product)" Partner="Whole"/>
        <NavigationProperty Name="Whole" Type="self.Product" Partner="Parts"/>
      </EntityType>
      <ComplexType Name="Size">
        <Property Name="Width" Type="Edm.Int32"/>
        <Property Name="Height" Type="Edm.Int32"/>
      </ComplexType>
      <EnumType Name="Color" IsFlags="true">
        <Member Name="Red" Value="1"/><Member Name="Green" Value="2"/>
      </EnumType>
      <TypeDefinition Name="Kilogram" UnderlyingType="Edm.Decimal" Scale="3"/>
      <Function Name="Top" IsBound="true" IsComposable="true">
        <Parameter Name="set" Type="Collection(self.Product)"/>
        <Parameter Name="count" Type="Edm.Int32"/>
        <ReturnType Type="Collection(self.Product)"/>
      </Function>
      <Action Name="Reset"/>
      <EntityContainer Name="Container">
        <EntitySet Name="Products" EntityType="self.Product">
          <NavigationPropertyBinding Path="Parts" Target="Products"/>
        </EntitySet>
        <Singleton Name="Best" Type="self.Product"/>
        <ActionImport Name="Reset" Action="self.Reset"/>
      </EntityContainer>
      <Annotations Target="self.Product/Name">
        <Annotation Term="Common.Label" String="Name of it"/>
        <Annotation Term="Core.Description" Qualifier="long">
          <String>What it is called</String>
        </Annotation>
        <Annotation Term="Common.ValueList">
          <Record>
            <PropertyValue Property="CollectionPath" String="Products"/>
            <PropertyValue Property="Parameters"><Collection>
              <Record Type="Common.ValueListParameterInOut">
                <PropertyValue Property="LocalDataProperty" PropertyPath="Name"/>
                <PropertyValue Property="ValueListProperty" String="Name"/>
              </Record></Collection></PropertyValue>
          </Record>
        </Annotation>
      </Annotations>
    </Schema></edmx:DataServices></edmx:Edmx>
    """
}

extension String { var bytes: [UInt8] { Array(utf8) } }
