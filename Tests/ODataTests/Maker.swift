import FerryOData

/// Random numbers from a seed, so that a failure can be seen again.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Makes schemas, entries and values of every kind that a version has.
struct Maker {
  var random: SeededGenerator
  let version: ODataVersion
  let metadata: EdmMetadata
  let types: [EdmStructuredType]

  init(_ seed: UInt64, _ version: ODataVersion) {
    random = SeededGenerator(seed)
    self.version = version
    var schema = EdmSchema(namespace: "Random.Model")
    var complex: [EdmStructuredType] = []
    for number in 0..<2 {
      var type = EdmStructuredType(.complex, namespace: "Random.Model", name: "C\(number)")
      type.properties = Self.properties(&random, version, complex.map(\.qualifiedName))
      complex.append(type)
    }
    var entity = EdmStructuredType(.entity, namespace: "Random.Model", name: "E")
    entity.properties =
      [EdmProperty("ID", EdmTypeReference("Edm.Int32"))]
      + Self.properties(&random, version, complex.map(\.qualifiedName))
    entity.keys = [EdmKeyReference(name: "ID")]
    entity.navigationProperties = [
      EdmNavigationProperty("One", EdmTypeReference("Random.Model.E")),
      EdmNavigationProperty("Many", EdmTypeReference("Random.Model.E", isCollection: true)),
    ]
    schema.entityTypes = [entity]
    schema.complexTypes = complex
    if version >= .v4 {
      schema.enumTypes = [
        EdmEnumType(
          namespace: "Random.Model", name: "Color", underlyingType: .int32, isFlags: true,
          members: [], annotations: [])
      ]
    }
    metadata = EdmMetadata(version: version, schemas: [schema])
    types = complex + [entity]
  }

  static func primitives(_ version: ODataVersion) -> [EdmPrimitive] {
    EdmPrimitive.allCases.filter {
      if $0 == .stream || $0 == .geography || $0 == .geometry || $0.since > version { return false }
      return version < .v4 || ($0 != .dateTime && $0 != .time)
    }
  }

  private static func properties(
    _ random: inout SeededGenerator, _ version: ODataVersion, _ complex: [String]
  ) -> [EdmProperty] {
    let all = primitives(version)
    return (0..<Int.random(in: 1...8, using: &random)).map { number in
      var name = all.randomElement(using: &random)?.rawValue ?? "Edm.String"
      let kind = Int.random(in: 0..<10, using: &random)
      if kind == 0, let found = complex.randomElement(using: &random) { name = found }
      if kind == 1, version >= .v4 { name = "Random.Model.Color" }
      let isCollection = version >= .v3 && Int.random(in: 0..<5, using: &random) == 0
      return EdmProperty("p\(number)_ä", EdmTypeReference(name, isCollection: isCollection))
    }
  }

  mutating func string() -> String {
    let pieces = [
      "a", "Z", " ", "<", "&", "\"", "'", "]]>", "\n", "\r", "\t", "é", "漢", "😀", "\\", "/",
    ]
    return (0..<Int.random(in: 0...12, using: &random)).map { _ in
      pieces.randomElement(using: &random) ?? ""
    }.joined()
  }

  private mutating func digits(_ count: ClosedRange<Int>) -> String {
    (0..<Int.random(in: count, using: &random)).map { _ in
      String(Int.random(in: 0...9, using: &random))
    }.joined()
  }

  private mutating func date() -> EdmDate {
    EdmDate(daysSince1970: Int64.random(in: -700_000...2_900_000, using: &random))!
  }

  private mutating func time(_ fraction: UInt64) -> EdmTimeOfDay {
    EdmTimeOfDay(
      hour: UInt8.random(in: 0..<24, using: &random),
      minute: UInt8.random(in: 0..<60, using: &random),
      second: UInt8.random(in: 0..<60, using: &random),
      picoseconds: UInt64.random(in: 0..<(1_000_000_000_000 / fraction), using: &random) * fraction)!
  }

  private mutating func point() -> [Double] {
    [Double.random(in: -180...180, using: &random), Double.random(in: -90...90, using: &random)]
  }

  private mutating func points() -> [[Double]] {
    (0..<Int.random(in: 1...4, using: &random)).map { _ in point() }
  }

  private mutating func shape(_ type: EdmPrimitive) -> EdmSpatial {
    let shape: EdmSpatial.Shape =
      switch type {
      case .geographyPoint, .geometryPoint: .point(point())
      case .geographyLineString, .geometryLineString: .lineString(points())
      case .geographyPolygon, .geometryPolygon: .polygon([points(), points()])
      case .geographyMultiPoint, .geometryMultiPoint: .multiPoint(points())
      case .geographyMultiLineString, .geometryMultiLineString: .multiLineString([points()])
      case .geographyMultiPolygon, .geometryMultiPolygon: .multiPolygon([[points()], [points()]])
      default: .collection([.point(point()), .lineString(points())])
      }
    return EdmSpatial(
      shape, isGeometry: type.isGeometry, srid: Bool.random(using: &random) ? 4_326 : nil)
  }

  mutating func primitive(_ type: EdmPrimitive) -> EdmValue {
    switch type {
    case .boolean: return .boolean(Bool.random(using: &random))
    case .byte: return .byte(UInt8.random(in: .min ... .max, using: &random))
    case .sbyte: return .sbyte(Int8.random(in: .min ... .max, using: &random))
    case .int16: return .int16(Int16.random(in: .min ... .max, using: &random))
    case .int32: return .int32(Int32.random(in: .min ... .max, using: &random))
    case .int64: return .int64(Int64.random(in: .min ... .max, using: &random))
    case .single:
      let value = Float(bitPattern: UInt32.random(in: .min ... .max, using: &random))
      return .single(value)
    case .double:
      return .double(Double(bitPattern: UInt64.random(in: .min ... .max, using: &random)))
    case .decimal:
      return .decimal(
        EdmDecimal(
          (Bool.random(using: &random) ? "-" : "") + digits(1...20) + "." + digits(1...12))!)
    case .string: return .string(string())
    case .binary: return .binary(Array(string().utf8))
    case .guid:
      return .guid(
        EdmGuid(
          high: UInt64.random(in: .min ... .max, using: &random),
          low: UInt64.random(in: .min ... .max, using: &random)))
    case .dateTime: return .dateTime(EdmDateTime(date(), time(100_000)))
    case .dateTimeOffset:
      return .dateTimeOffset(
        EdmDateTimeOffset(
          EdmDateTime(date(), time(100_000)),
          offsetMinutes: Int16.random(in: -840...840, using: &random))!)
    case .date: return .date(date())
    case .timeOfDay: return .timeOfDay(time(1))
    case .time:
      return .time(
        EdmDuration(seconds: UInt64.random(in: 0..<86_400, using: &random), picoseconds: 5))
    case .duration:
      return .duration(
        EdmDuration(
          seconds: UInt64.random(in: 0...UInt64(Int64.max), using: &random),
          picoseconds: UInt64.random(in: 0..<1_000_000_000_000, using: &random),
          isNegative: Bool.random(using: &random)))
    default: return .spatial(shape(type))
    }
  }

  mutating func value(_ type: EdmTypeReference) -> EdmValue {
    if type.isCollection {
      return .collection(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in single(type.name) })
    }
    if Int.random(in: 0..<8, using: &random) == 0 { return .null }
    return single(type.name)
  }

  private mutating func single(_ name: String) -> EdmValue {
    if let primitive = EdmPrimitive(rawValue: name) { return self.primitive(primitive) }
    if name.hasSuffix("Color") { return .enumeration("Red,Green", type: name) }
    guard let type = types.first(where: { $0.qualifiedName == name }) else { return .null }
    return .complex(EdmComplex(type: name, properties(type)))
  }

  mutating func properties(_ type: EdmStructuredType) -> ODataProperties {
    var list: [ODataProperty] = []
    for property in type.properties {
      list.append(ODataProperty(property.name, value(property.type), type: property.type))
    }
    return ODataProperties(list)
  }

  mutating func entry(_ depth: Int = 2) -> ODataEntry {
    var entry = ODataEntry(type: "Random.Model.E", properties(types[2]))
    entry.properties["ID"] = .int32(Int32.random(in: 0..<1_000, using: &random))
    entry.id = "http://host/E(\(Int.random(in: 0..<1_000, using: &random)))"
    if Bool.random(using: &random) {
      entry.etag = "W/\"\(string().filter { $0 != "\n" && $0 != "\r" && $0 != "\t" })\""
    }
    if Int.random(in: 0..<4, using: &random) == 0 {
      entry.media = ODataMedia(contentType: "image/png", source: "E(1)/$value")
    }
    if depth > 0 {
      if Bool.random(using: &random) {
        entry.links.append(
          .related(
            "One", href: "E(1)/One",
            inline: .entry(Bool.random(using: &random) ? nil : self.entry(depth - 1))))
      }
      if Bool.random(using: &random) {
        let many = (0..<Int.random(in: 0...2, using: &random)).map { _ in self.entry(depth - 1) }
        entry.links.append(.related("Many", href: "E(1)/Many", inline: .feed(ODataFeed(many))))
      }
    }
    return entry
  }
}
