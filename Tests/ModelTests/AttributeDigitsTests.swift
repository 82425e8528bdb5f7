import FerryModel
import Testing

struct AttributeDigitsTests {
  private func cure(_ text: String, _ precision: Int?, _ scale: Int?) -> String? {
    Attribute(
      name: "a", column: "a", type: .decimal, isNullable: true, precision: precision, scale: scale
    ).misfit(text)?.problem
  }

  @Test("A decimal fits its precision and scale, or is told by how much it does not")
  func fits() {
    for text in ["99.99", "-99.99", "0.01", "0", "10"] { #expect(cure(text, 4, 2) == nil) }
    #expect(cure("100", 4, 2) == "100 has 3 digits before the point, 2 fit")
    #expect(cure("-0.125", 4, 2) == "-0.125 has 3 digits behind the point, 2 fit")
    #expect(cure("12345.6", 5, nil) == "12345.6 has 5 digits before the point, 4 fit")
    #expect(cure("123456789.25", nil, 2) == nil)
    #expect(cure("0.5", 1, nil) == nil)
    #expect(cure("1.5", nil, 0) == "1.5 has 1 digits behind the point, 0 fit")
    #expect(cure("1000000000.123456", nil, nil) == nil)
  }

  @Test("A model with precision and scale is read, and written again as it was")
  func model() throws {
    let package = Package(
      name: "Shop", version: "1.0",
      entities: [
        Entity(
          name: "Item", table: "items",
          attributes: [
            Attribute(name: "id", column: "id", type: .long, isNullable: false),
            Attribute(
              name: "price", column: "price", type: .decimal, isNullable: true, precision: 10,
              scale: 2),
          ], key: [0], keyOrigin: .app, relationships: [], operations: [.create],
          partition: nil, group: "default")
      ], groups: [SynchronizationGroup(name: "default")])
    let text = ModelWriter.text(of: package, schema: nil)
    #expect(text.contains(#""precision": 10, "scale": 2"#))
    #expect(ModelReader.written(text) == package)
  }
}
