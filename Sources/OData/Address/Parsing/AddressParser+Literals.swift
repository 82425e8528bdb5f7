import FerryOData
import FerryText

/// Values as addresses write them.
extension AddressParser {
  /// A literal; nil where none begins here, and then nothing is taken.
  func literal() throws(AddressFault) -> EdmValue? {
    guard let byte else { return nil }
    switch byte {
    case UInt8(ascii: "'"): return .string(try quoted())
    case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"):
      if let guid = try guid() { return guid }
      return try number()
    default: break
    }
    if let guid = try guid() { return guid }
    let start = position
    guard let word = try qualifiedWord() else { return nil }
    if self.byte == UInt8(ascii: "'") { return try prefixed(word, at: start) }
    if self.byte != UInt8(ascii: "("), self.byte != UInt8(ascii: "/") {
      if word == "null" { return .null }
      switch isOld ? word : word.lowercased() {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      default: break
      }
      if word == "INF" { return .double(.infinity) }
      if word == "NaN" || isOld && word == "Nan" { return .double(.nan) }
    }
    position = start
    return nil
  }

  /// A string in single quotes; a quote inside is written twice.
  func quoted() throws(AddressFault) -> String {
    let start = position
    position += 1
    var bytes: [UInt8] = []
    while let byte {
      position += 1
      guard byte == UInt8(ascii: "'") else {
        bytes.append(byte)
        continue
      }
      guard self.byte == UInt8(ascii: "'") else { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
      position += 1
    }
    throw failure(
      "the quote is not closed", at: start,
      part == "path" ? "write a / inside of a key as %2F, and ' as ''" : "write ' inside as ''")
  }

  /// Eight hexadecimal digits and the rest of a GUID; nil where it is none.
  private func guid() throws(AddressFault) -> EdmValue? {
    guard position + 36 <= text.bytes.count, text.bytes[position + 8] == UInt8(ascii: "-"),
      text.bytes[position + 13] == UInt8(ascii: "-"),
      letter(position + 36, isFirst: false) == nil,
      let value = EdmGuid(slice(position..<(position + 36)))
    else { return nil }
    if isOld { throw failure("a bare GUID in V2", "write guid'\(value)'") }
    position += 36
    return .guid(value)
  }

  /// A number, date, time, or date and time.
  private func number() throws(AddressFault) -> EdmValue? {
    let start = position
    if let moment = try moment() { return moment }
    position = start
    let isNegative = take("-")
    if !isNegative { _ = take("+") }
    if isNegative, text.bytes[position...].starts(with: "INF".utf8),
      letter(position + 3, isFirst: false) == nil
    {
      position += 3
      return .double(-.infinity)
    }
    let whole = digits()
    guard whole > 0 else {
      position = start
      return nil
    }
    var isWhole = true
    var hasExponent = false
    if byte == UInt8(ascii: "."), Self.isDigit(byte(ahead: 1)) {
      position += 1
      _ = digits()
      isWhole = false
    }
    if let byte, byte | 0x20 == UInt8(ascii: "e") {
      let isSigned =
        self.byte(ahead: 1) == UInt8(ascii: "-") || self.byte(ahead: 1) == UInt8(ascii: "+")
      if Self.isDigit(self.byte(ahead: isSigned ? 2 : 1)) {
        position += isSigned ? 2 : 1
        _ = digits()
        hasExponent = true
      }
    }
    let spelled = slice(start..<position).drop { $0 == "+" }
    let value = try typed(String(spelled), isWhole && !hasExponent, start)
    guard letter(position, isFirst: false) == nil, byte != UInt8(ascii: ".") else {
      let mark = peekWord()
      let isMark = !isOld && ["l", "m", "f", "d"].contains(mark.lowercased())
      throw failure(
        "\(found) in a number",
        isMark ? "V4 writes it bare, without \(mark)" : "put a blank behind the number")
    }
    return value
  }

  private func digits() -> Int {
    let start = position
    while Self.isDigit(byte) { position += 1 }
    return position - start
  }

  private func typed(
    _ spelled: String, _ isWhole: Bool, _ start: Int
  ) throws(AddressFault) -> EdmValue {
    var type: EdmPrimitive?
    if isOld, let byte {
      switch byte | 0x20 {
      case UInt8(ascii: "l"): type = .int64
      case UInt8(ascii: "m"): type = .decimal
      case UInt8(ascii: "f"): type = .single
      case UInt8(ascii: "d"): type = .double
      default: break
      }
      if type != nil { position += 1 }
    }
    if let type {
      guard let value = EdmValue(text: spelled, type: type) else {
        throw failure("\(spelled) is not an \(type.rawValue)", at: start)
      }
      return value
    }
    if isWhole {
      let value = EdmValue(text: spelled, type: .int32) ?? EdmValue(text: spelled, type: .int64)
      if let value { return value }
    }
    // V4 writes all numbers alike; a decimal keeps every digit.
    let fallback: EdmPrimitive = isOld && !isWhole ? .double : .decimal
    guard let value = EdmValue(text: spelled, type: fallback) else {
      throw failure("\(spelled) is beyond the range of a number", at: start)
    }
    return value
  }

  /// Only what has the form of a date or time is taken for one; then it must be one.
  private func moment() throws(AddressFault) -> EdmValue? {
    let start = position
    _ = take("-")
    let first = digits()
    if first == 2, start + 2 == position, byte == UInt8(ascii: ":") {
      // The colon behind a condition of `case` follows a number as well.
      guard takeTime() else { return nil }
      guard let value = EdmValue(text: slice(start..<position), type: .timeOfDay) else {
        throw failure("\(slice(start..<position)) is not a time of day", at: start)
      }
      if isOld { throw failure("a bare time in V2", at: start, "write time'PT8H30M'") }
      return value
    }
    let leading = first > 0 ? text.bytes[position - first] : 0
    guard first == 4 || first > 4 && leading != 0x30, take("-"), digits() == 2, take("-"),
      digits() == 2
    else { return nil }
    var type = EdmPrimitive.date
    if let byte, byte | 0x20 == UInt8(ascii: "t"), Self.isDigit(self.byte(ahead: 1)) {
      position += 1
      type = .dateTimeOffset
      guard takeTime() else { throw failure("\(found) in a time of day") }
      if let zone = self.byte, zone | 0x20 == UInt8(ascii: "z") {
        position += 1
      } else {
        guard self.byte == UInt8(ascii: "+") || self.byte == UInt8(ascii: "-"),
          Self.isDigit(self.byte(ahead: 1))
        else {
          throw failure(
            "a date and time without its distance from UTC", "write Z or %2B02:00 behind it")
        }
        position += 1
        guard digits() == 2, take(":"), digits() == 2 else {
          throw failure("\(found) in the distance from UTC", "write it as %2B02:00")
        }
      }
    }
    let spelled = slice(start..<position)
    guard let value = EdmValue(text: spelled, type: type) else {
      throw failure("\(spelled) is not an \(type.rawValue)", at: start)
    }
    if isOld {
      throw failure(
        "a bare date in V2", at: start, "write datetime'2026-11-21T00:00:00'")
    }
    return value
  }

  private func takeTime() -> Bool {
    if position < text.bytes.count, text.bytes[position] != UInt8(ascii: ":"), digits() != 2 {
      return false
    }
    guard take(":"), digits() == 2 else { return false }
    if take(":") {
      guard digits() == 2 else { return false }
      if byte == UInt8(ascii: "."), Self.isDigit(byte(ahead: 1)) {
        position += 1
        _ = digits()
      }
    }
    return true
  }

  /// Stands before the quote behind a word.
  private func prefixed(_ word: String, at start: Int) throws(AddressFault) -> EdmValue {
    let inside = position + 1
    let spelled = try quoted()
    switch isOld ? word : word.lowercased() {
    case "binary", "X":
      if let bytes = isOld ? Hexadecimal.decode(spelled) : base64(spelled) { return .binary(bytes) }
      throw failure(
        "\(word)'…' holds no bytes", at: inside,
        isOld ? "V2 writes bytes in hexadecimal" : "V4 writes bytes in base64url")
    case "geography" where version >= .v3, "geometry" where version >= .v3:
      var reader = SpatialReader(spelled)
      guard let value = reader.read(isGeometry: word.lowercased() == "geometry", limits.depth)
      else {
        throw failure(
          "no shape in \(word)'…'", at: inside + reader.position,
          "write SRID=4326;Point(8.4 49.3) and the like")
      }
      return .spatial(value)
    default: break
    }
    if let type = prefixedType(word) {
      guard !spelled.utf8.contains(where: { $0 <= 0x20 }),
        let value = EdmValue(text: spelled, type: type)
      else {
        throw failure("\(spelled) is not an \(type.rawValue)", at: inside)
      }
      return value
    }
    guard word.contains("."), !isOld || version >= .v3 else {
      throw failure(
        "\(word)'…' is not a literal of V\(version.rawValue)", at: start, cure(for: word))
    }
    return .enumeration(try members(spelled, at: inside), type: word)
  }

  private func prefixedType(_ word: String) -> EdmPrimitive? {
    switch isOld ? word : word.lowercased() {
    case "duration" where !isOld: .duration
    case "datetime" where isOld: .dateTime
    case "datetimeoffset" where isOld: .dateTimeOffset
    case "time" where isOld: .time
    case "guid" where isOld: .guid
    default: nil
    }
  }

  private func cure(for word: String) -> String {
    switch word.lowercased() {
    case "datetime", "datetimeoffset", "guid": "V4 writes it bare, without \(word) and quotes"
    case "time": "V4 writes times bare (08:30:00), and spans as duration'PT8H30M'"
    case "duration": "V2 writes time'PT8H30M'"
    case "x": "V4 writes binary'…' in base64url"
    default: "write the namespace of the enumeration in front: NS.\(word)'…'"
    }
  }

  private func members(_ spelled: String, at place: Int) throws(AddressFault) -> String {
    for member in spelled.split(separator: ",", omittingEmptySubsequences: false) {
      guard ODataNames.isName(member) || Int64(member) != nil else {
        throw failure("\"\(member)\" is not a member of an enumeration", at: place)
      }
    }
    return spelled
  }

  private func base64(_ text: String) -> [UInt8]? {
    guard
      text.utf8.allSatisfy({
        Self.isDigit($0) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || $0 == UInt8(ascii: "-")
          || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "=")
      }), case .binary(let bytes)? = EdmValue(text: text, type: .binary),
      EdmValue.binary(bytes).literal(.v4).dropFirst(7).dropLast()
        == text.prefix(while: { $0 != "=" })
    else { return nil }
    return bytes
  }
}
