/// Decimals and unbounded integers in their canonical text: compared and added without loss.
public enum DecimalText {
  /// Less than 0 when `left` is the smaller number, 0 when both are equal. Both are canonical: no
  /// exponent and no superfluous zero but behind the last digit of a fraction, where SQLite writes
  /// one (`10.0`).
  public static func compare(
    _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
  ) -> Int {
    let (isLeftNegative, leftDigits) = sign(left)
    let (isRightNegative, rightDigits) = sign(right)
    guard isLeftNegative == isRightNegative else { return isLeftNegative ? -1 : 1 }
    let result = magnitude(leftDigits, rightDigits)
    return isLeftNegative ? -result : result
  }

  public static func compare(_ left: String, _ right: String) -> Int {
    compare(left.utf8, right.utf8)
  }

  private static func sign<Digits: Collection<UInt8>>(
    _ text: Digits
  ) -> (Bool, Digits.SubSequence) {
    text.first == minus ? (true, text.dropFirst()) : (false, text[...])
  }

  private static func magnitude(
    _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
  ) -> Int {
    let leftWhole = left.prefix { $0 != point }.count
    let rightWhole = right.prefix { $0 != point }.count
    guard leftWhole == rightWhole else { return leftWhole - rightWhole }
    var leftPlaces = left.makeIterator()
    var rightPlaces = right.makeIterator()
    while true {
      // The point comes before every digit, and an end before the point: a longer fraction is more.
      let (leftByte, rightByte) = (leftPlaces.next(), rightPlaces.next())
      if leftByte == rightByte {
        if leftByte == nil { return 0 }
        continue
      }
      guard let leftByte else { return isNothing(rightByte, &rightPlaces) ? 0 : -1 }
      guard let rightByte else { return isNothing(leftByte, &leftPlaces) ? 0 : 1 }
      return leftByte < rightByte ? -1 : 1
    }
  }

  /// Whether what is left of a fraction is zeros.
  private static func isNothing(
    _ first: UInt8?, _ rest: inout some IteratorProtocol<UInt8>
  ) -> Bool {
    var byte = first
    while let known = byte {
      guard known == point || known == zero else { return false }
      byte = rest.next()
    }
    return true
  }

  /// The canonical sum, of as many digits as it needs.
  public static func sum(_ left: String, _ right: String) -> String {
    let (isLeftNegative, leftDigits) = sign(left.utf8)
    let (isRightNegative, rightDigits) = sign(right.utf8)
    let places = max(fraction(leftDigits), fraction(rightDigits))
    let first = digits(leftDigits, places)
    let second = digits(rightDigits, places)
    guard isLeftNegative != isRightNegative else {
      return text(added(first, second), places, isLeftNegative)
    }
    let isFirstSmaller = magnitude(leftDigits, rightDigits) < 0
    let difference = isFirstSmaller ? subtracted(second, first) : subtracted(first, second)
    return text(difference, places, isFirstSmaller ? isRightNegative : isLeftNegative)
  }

  private static func fraction(_ text: some Collection<UInt8>) -> Int {
    max(0, text.drop { $0 != point }.count - 1)
  }

  /// The digits from the last to the first, with that many behind the point.
  private static func digits(_ text: some Collection<UInt8>, _ places: Int) -> [UInt8] {
    let missing = places - fraction(text)
    let known = text.filter { $0 != point }.map { $0 - zero }
    return [UInt8](repeating: 0, count: missing) + known.reversed()
  }

  private static func added(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    var sum: [UInt8] = []
    var carry: UInt8 = 0
    for place in 0..<max(left.count, right.count) {
      let digit =
        (place < left.count ? left[place] : 0) + (place < right.count ? right[place] : 0) + carry
      sum.append(digit % 10)
      carry = digit / 10
    }
    return carry == 0 ? sum : sum + [carry]
  }

  /// `left` is not the smaller one.
  private static func subtracted(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    var difference: [UInt8] = []
    var borrow: UInt8 = 0
    for place in left.indices {
      let taken = (place < right.count ? right[place] : 0) + borrow
      borrow = left[place] < taken ? 1 : 0
      difference.append(left[place] + borrow * 10 - taken)
    }
    return difference
  }

  private static func text(_ digits: [UInt8], _ places: Int, _ isNegative: Bool) -> String {
    var fraction = Array(digits.prefix(places).reversed())
    while fraction.last == 0 { fraction.removeLast() }
    let whole = Array(digits.dropFirst(places).reversed().drop { $0 == 0 })
    guard !(whole.isEmpty && fraction.isEmpty) else { return "0" }
    var bytes: [UInt8] = isNegative ? [minus] : []
    bytes += whole.isEmpty ? [zero] : whole.map { $0 + zero }
    if !fraction.isEmpty { bytes += [point] + fraction.map { $0 + zero } }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let minus = UInt8(ascii: "-")
  private static let point = UInt8(ascii: ".")
  private static let zero = UInt8(ascii: "0")
}
