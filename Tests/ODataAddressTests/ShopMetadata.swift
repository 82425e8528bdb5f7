import FerryOData

/// A service that the tests know by its metadata.
enum ShopMetadata {
  static let xml = """
    <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
    <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop" Alias="self">
      <EntityType Name="Order">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <Property Name="Code" Type="Edm.String"/>
        <Property Name="Price" Type="Edm.Decimal"/>
        <Property Name="Done" Type="Edm.Boolean"/>
        <Property Name="Day" Type="Edm.Date"/>
        <Property Name="Color" Type="Shop.Color"/>
        <Property Name="Tags" Type="Collection(Edm.String)"/>
        <Property Name="Home" Type="Shop.Address"/>
        <NavigationProperty Name="Lines" Type="Collection(Shop.Line)"/>
        <NavigationProperty Name="Parent" Type="Shop.Order"/>
        <Annotation Term="Org.OData.Core.V1.AlternateKeys"><Collection><Record>
          <PropertyValue Property="Key"><Collection><Record>
            <PropertyValue Property="Name" PropertyPath="Code"/>
          </Record></Collection></PropertyValue></Record><Record>
          <PropertyValue Property="Key"><Collection><Record>
            <PropertyValue Property="Name" PropertyPath="Home/City"/>
            <PropertyValue Property="Alias" String="Town"/></Record><Record>
            <PropertyValue Property="Name" PropertyPath="Day"/>
          </Record></Collection></PropertyValue></Record></Collection></Annotation>
      </EntityType>
      <EntityType Name="Special" BaseType="self.Order">
        <Property Name="Reason" Type="Edm.String"/>
      </EntityType>
      <EntityType Name="Line" OpenType="true">
        <Key><PropertyRef Name="Order"/><PropertyRef Name="No"/></Key>
        <Property Name="Order" Type="Edm.Int32" Nullable="false"/>
        <Property Name="No" Type="Edm.String" Nullable="false"/>
        <Property Name="Price" Type="Edm.Decimal"/>
      </EntityType>
      <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
      <EnumType Name="Color"><Member Name="Red" Value="1"/></EnumType>
      <Function Name="Best" IsBound="true" IsComposable="true">
        <Parameter Name="set" Type="Collection(self.Order)"/>
        <Parameter Name="n" Type="Edm.Int32"/>
        <ReturnType Type="Collection(self.Order)"/>
      </Function>
      <Function Name="Now"><ReturnType Type="Edm.DateTimeOffset"/></Function>
      <Action Name="Close" IsBound="true"><Parameter Name="it" Type="self.Order"/></Action>
      <EntityContainer Name="C">
        <EntitySet Name="Orders" EntityType="self.Order">
          <NavigationPropertyBinding Path="Lines" Target="Lines"/>
        </EntitySet>
        <EntitySet Name="Lines" EntityType="self.Line"/>
        <Singleton Name="Newest" Type="self.Order"/>
        <FunctionImport Name="Clock" Function="self.Now"/>
      </EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  static func read() throws -> EdmMetadata { try EdmMetadata.read(Array(xml.utf8)) }
}
