/// Header fields in the order they were given; names are compared without regard to case.
public struct HTTPHeaders: Sendable {
  /// One line of a head.
  public struct Field: Sendable, Equatable {
    public let name: String
    public let value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public private(set) var fields: [Field] = []

  public init() {}

  public init(_ fields: [Field]) { self.fields = fields }

  /// The first value under a name. Setting puts one field in place of all of that name; nil
  /// removes them.
  public subscript(_ name: String) -> String? {
    get { fields.first { Self.isSame($0.name, name) }?.value }
    set {
      let place = fields.firstIndex { Self.isSame($0.name, name) }
      fields.removeAll { Self.isSame($0.name, name) }
      if let newValue {
        fields.insert(Field(name: name, value: newValue), at: place ?? fields.count)
      }
    }
  }

  /// Puts a field last and leaves others of the same name alone (`Set-Cookie`).
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// All values under a name, first to last.
  public func values(_ name: String) -> [String] {
    fields.filter { Self.isSame($0.name, name) }.map(\.value)
  }

  /// Header names are ASCII: only A to Z have another case.
  static func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count
      && zip(left.utf8, right.utf8).allSatisfy { lowercase($0) == lowercase($1) }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
  }
}

extension HTTPHeaders: Equatable {
  /// Equal with the same values in the same order; the case of names does not matter.
  public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
    left.fields.count == right.fields.count
      && zip(left.fields, right.fields).allSatisfy {
        isSame($0.name, $1.name) && $0.value == $1.value
      }
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }
}
