import FerryOData

/// Where the service ends and the resource path begins. The standard leaves it to who knows the
/// service; without that, metadata and common looks must do.
extension AddressParser {
  /// The place behind the slash that ends the service; 0 for a relative address.
  func serviceEnd(_ end: Int) throws(AddressFault) -> Int {
    let whole = String(decoding: address[..<end], as: UTF8.self)
    if let service = settings.service {
      let root = service.hasSuffix("/") ? service : service + "/"
      if whole.hasPrefix(root) { return root.utf8.count }
      if whole == service { return end }
      if hasScheme(end) {
        throw failure(
          "the address does not begin with the service \(service)", inAddressAt: 0,
          "ask the service that the address belongs to")
      }
      return whole.hasPrefix("/") ? 1 : 0
    }
    guard hasScheme(end) else { return try relativeStart(end) }
    guard let host = whole.utf8.firstRange(of: "://".utf8)?.upperBound else { return 0 }
    let start = whole.utf8.distance(from: whole.utf8.startIndex, to: host)
    guard start < end, address[start] != UInt8(ascii: "/") else {
      throw failure("an address without a host", inAddressAt: start)
    }
    guard let slash = address[start..<end].firstIndex(of: UInt8(ascii: "/")) else { return end }
    return try split(slash + 1, end)
  }

  private func hasScheme(_ end: Int) -> Bool {
    guard let colon = address[..<end].firstRange(of: Array("://".utf8)) else { return false }
    return address[..<colon.lowerBound].allSatisfy { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }
  }

  /// A relative address is one from the service on; a slash in front is read over.
  private func relativeStart(_ end: Int) throws(AddressFault) -> Int {
    if let colon = address[..<end].firstIndex(of: UInt8(ascii: ":")),
      address[..<colon].allSatisfy({ $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A })
        || address[(colon + 1)..<end].starts(with: "//".utf8)
    {
      throw failure(
        "a : where a name, a ( or a / was expected", inAddressAt: colon,
        "an absolute address begins with a scheme and ://")
    }
    return address[..<end].first == UInt8(ascii: "/") ? 1 : 0
  }

  /// Of segments behind the host, the place where the first of the resource path begins.
  private func split(_ start: Int, _ end: Int) throws(AddressFault) -> Int {
    var starts: [Int] = [start]
    for index in start..<max(start, end) where address[index] == UInt8(ascii: "/") {
      starts.append(index + 1)
    }
    func segment(_ number: Int) -> ArraySlice<UInt8> {
      let last = number + 1 < starts.count ? starts[number + 1] - 1 : end
      return address[starts[number]..<max(starts[number], last)]
    }
    func name(_ number: Int) -> String {
      let head = segment(number).prefix { $0 != UInt8(ascii: "(") && $0 != UInt8(ascii: "%") }
      return String(decoding: head, as: UTF8.self)
    }
    if starts.last == end { return end }
    if let metadata = settings.metadata {
      for number in starts.indices where Self.isRoot(name(number), in: metadata) {
        return starts[number]
      }
    }
    for number in starts.indices {
      let text = name(number)
      if text.lowercased().hasSuffix(".svc") { return starts[min(number + 1, starts.count - 1)] }
      if Self.rootSegments.contains(text) { return starts[number] }
    }
    for number in starts.indices {
      let bytes = segment(number)
      if bytes.first == UInt8(ascii: "$"), number > 0 { return starts[number - 1] }
      if bytes.contains(UInt8(ascii: "(")) || bytes.firstRange(of: Array("%28".utf8)) != nil {
        return starts[number]
      }
    }
    return starts[starts.count - 1]
  }

  private static let rootSegments: Set<String> = [
    "$metadata", "$batch", "$entity", "$all", "$crossjoin",
  ]

  private static func isRoot(_ name: String, in metadata: EdmMetadata) -> Bool {
    metadata.entitySets.contains { $0.name == name } || metadata.singleton(name) != nil
      || metadata.functionImport(name) != nil || metadata.actionImport(name) != nil
  }
}
