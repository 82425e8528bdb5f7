import FerryOData
import FerryODataAddress
import Testing

@Suite("What is built is parsed to the same") struct AddressRoundTripTests {
  @Test("Random addresses, written and parsed, are equal", arguments: [ODataVersion.v2, .v4])
  func addresses(_ version: ODataVersion) throws {
    for seed in 0..<2_000 {
      var maker = AddressMaker(UInt64(seed), version)
      let address = maker.address()
      let uri = try address.uri(version)
      let settings = ODataAddressSettings(version: version, service: address.service)
      do {
        #expect(try ODataAddress(parsing: uri, settings) == address, "seed \(seed): \(uri)")
      } catch { Issue.record("seed \(seed): \(error)\n\(uri)") }
      #expect(uri.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }
  }

  @Test("Random expressions, as text and parsed, are equal", arguments: [ODataVersion.v2, .v4])
  func expressions(_ version: ODataVersion) throws {
    for seed in 0..<2_000 {
      var maker = AddressMaker(UInt64(seed) + 100_000, version)
      let expression = maker.expression(5)
      let text = try expression.text(version)
      do {
        #expect(try condition(text, version) == expression, "seed \(seed): \(text)")
      } catch { Issue.record("seed \(seed): \(error)\n\(text)") }
    }
  }

  @Test("Numbers that V4 does not tell apart are read as the same number")
  func numbers() throws {
    let cases: [(EdmValue, EdmValue)] = [
      (.byte(5), .int32(5)), (.sbyte(-5), .int32(-5)), (.int16(5), .int32(5)),
      (.int64(5), .int32(5)),
      (.double(5), .decimal(EdmDecimal("5.0") ?? 0)),
      (.single(2.5), .decimal(EdmDecimal("2.5") ?? 0)),
      (.double(1e30), .decimal(EdmDecimal("1e30") ?? 0)), (.decimal(7), .decimal(7)),
      (.decimal(EdmDecimal("1E-7") ?? 0), .decimal(EdmDecimal("0.0000001") ?? 0)),
      (.time(EdmDuration(seconds: 5)), .duration(EdmDuration(seconds: 5))),
    ]
    for (value, read) in cases {
      let uri = try ODataAddress().entitySet("A").key(value).uri(.v4)
      #expect(try parsed(uri).path.last == .predicate(.value(.literal(read))), "\(uri)")
    }
    let complex = EdmValue.collection([.complex(EdmComplex(type: "NS.T", ["A": .int32(1)]))])
    #expect(
      try ODataExpression.literal(complex).text(.v4) == ##"[{"@odata.type":"#NS.T","A":1}]"##)
  }
}
