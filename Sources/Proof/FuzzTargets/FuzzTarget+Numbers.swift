import FerryHTTP
import FerryJSON
import FerryModel
import FerryOData
import FerryODataAddress
import FerryWire
import FerryWorld

extension FuzzTarget {
  /// A number, given to everything that reads numbers of foreign texts.
  static let numbers = FuzzTarget(
    "numbers",
    afterHeader: { bytes in
      let rest = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
      let digits = rest.prefix { (48...57).contains($0) }
      return digits.isEmpty ? nil : Array(rest.dropFirst(digits.count))
    },
    run: { bytes in
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      return modelNumbers(text) ?? wireNumbers(text) ?? httpNumbers(text) ?? edmNumbers(text)
    })

  /// Values of the attribute types, from texts, JSON, whole numbers and fractions.
  private static func modelNumbers(_ text: String) -> String? {
    let whole = Int64(text).map { [AttributeValue.integer($0)] } ?? []
    let fraction = Double(text).map { [AttributeValue.double($0)] } ?? []
    for type in AttributeType.allCases {
      for value in [.text(text)] + whole + fraction {
        if let broken = otherForm(type, type.canonical(value)) { return broken }
      }
      if let broken = otherForm(type, type.value(plainText: text)) { return broken }
      for written in [text, "\"\(text)\"", "[\(text)]"] {
        Array(written.utf8).withUnsafeBufferPointer { bytes in
          var scanner = JSONScanner(bytes)
          _ = try? scanner.value(of: type)
        }
      }
    }
    guard let number = BigInteger(text) else { return nil }
    _ = (Int64(exactly: number), UInt8(exactly: number), number < BigInteger(Int64.min))
    let sum = DecimalText.sum(number.description, "-9223372036854775808")
    return DecimalText.sum(sum, "9223372036854775808") == number.description
      ? nil : "\(number) minus and plus the same is another"
  }

  private static func otherForm(_ type: AttributeType, _ value: AttributeValue?) -> String? {
    guard let value, type != .complex, type != .list else { return nil }
    if case .double(let number) = value, number.isNaN { return nil }
    return type.canonical(value) == value ? nil : "\(type) has a second form of \(value)"
  }

  /// Ranges of contents, references, and moments that lie as far off as the text says.
  private static func wireNumbers(_ text: String) -> String? {
    for range in ["bytes 0-\(text)/\(text)", "bytes \(text)-\(text)/9223372036854775807"] {
      if let read = ContentRange(range), ContentRange(read.text) != read {
        return "a range written is read otherwise: \(range)"
      }
    }
    for asked in ["bytes=\(text)-", "bytes=0-\(text)", "bytes=\(text)-\(text)"] {
      guard let stretch = ContentStretch(asked) else { continue }
      if stretch.end(of: .max) < 0 || stretch.end(of: 7) > 7 { return "no such end: \(asked)" }
    }
    _ = BigReference("\(text):" + String(repeating: "0a", count: 32))
    guard let number = Int64(text) else { return nil }
    let moment = Timestamp(milliseconds: number)
    for span in [Duration.seconds(number), .milliseconds(number), .seconds(Int64.max)] {
      let later = moment.advanced(by: span)
      if span >= .zero, later < moment { return "\(number) ms and \(span) later is earlier" }
      if span < .zero, later > moment { return "\(number) ms and \(span) earlier is later" }
    }
    return moment.day > number / 86_400_000 ? "the day of \(number) ms begins after it" : nil
  }

  /// Addresses, dates, and the ages of cookies.
  private static func httpNumbers(_ text: String) -> String? {
    if let address = HTTPAddress("https://a:\(text)/"), !(1...65_535).contains(address.port) {
      return "a port \(address.port)"
    }
    for date in [
      "Sun, \(text) Nov 1994 08:49:37 GMT", "Sun, 06 Nov \(text) 08:49:37 GMT",
      "Sun, 06 Nov 1994 \(text):49:37 GMT", "Sunday, 06-Nov-\(text) 08:\(text):\(text) GMT",
    ] {
      _ = HTTPDate.seconds(date)
    }
    guard let address = HTTPAddress("https://a/") else { return "no address" }
    for now in [0, Int.max - 1] {
      var jar = HTTPCookieJar()
      jar.take(["Set-Cookie": "a=b; Max-Age=\(text)"], from: address, now: now)
      _ = jar.header(for: address, now: now)
    }
    return nil
  }

  /// Values of the primitive types of OData as texts, in documents and in addresses.
  private static func edmNumbers(_ text: String) -> String? {
    let texts = [
      text, "P\(text)D", "-PT\(text)S", "PT\(text)H\(text)M\(text).\(text)S", "/Date(\(text))/",
      "/Date(\(text)+\(text))/", "\(text)-01-01", "2000-\(text)-\(text)",
      "\(text)-01-01T00:00:00", "2000-01-01T\(text):\(text):\(text)", "999999999-12-31T23:59:59",
      "2000-01-01T00:00:00+\(text):\(text)", "\(text):00:00.\(text)",
    ]
    for type in EdmPrimitive.allCases {
      for text in texts {
        guard let value = EdmValue(text: text, type: type) else { continue }
        _ = (value.text, value.hashValue, value.approximate, value.integer)
        for version in ODataVersion.allCases { _ = value.literal(version) }
        for (format, version) in [(ODataFormat.atom, ODataVersion.v3), (.json, .v2), (.json, .v4)] {
          let entry = ODataEntry(ODataProperties([ODataProperty("a", value)]))
          _ = try? ODataComposer(format, version: version).body(ODataFeed([entry]))
        }
      }
    }
    return calculated(text, texts)
  }

  private static func calculated(_ text: String, _ texts: [String]) -> String? {
    let operands =
      [text, "\(text)M", "duration'P\(text)D'", "time'PT\(text)H'"]
      + texts.filter { $0.contains("-01-") }
    for version in [ODataVersion.v2, .v4] {
      let settings = ODataAddressSettings(version: version)
      for option in ["$top", "$skip", "$skiptoken", "$expand=A($levels", "$filter=Tags/$count gt "]
      {
        _ = try? ODataAddress(parsing: "A?\(option)=\(text)", settings)
      }
      for operand in operands {
        for calculation in [
          "\(operand) add \(operand) eq 1", "-\(operand) lt \(operand)", "\(operand) mod -1 eq 0",
          "\(operand) mul \(operand) eq 1", "\(operand) div \(operand) eq 1",
          "\(operand) sub -\(operand) gt 0", "round(\(operand)) eq floor(\(operand))",
          "substring('abc',\(operand)) eq 'a'", "cast(\(operand),Edm.Int32) eq 1",
          "matchesPattern('a','a{\(operand)}')",
        ] {
          guard let filter = try? ODataExpression(parsing: calculation, settings) else { continue }
          _ = try? ODataEvaluator().holds(filter, for: product)
        }
      }
    }
    return nil
  }
}
