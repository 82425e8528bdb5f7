import FerryJSON

/// What a device asks for beside what its user's claims give it: the values of parameters that
/// partition rules name. All are canonical texts, as claims are.
public struct SubscriptionParameters: Sendable, Equatable {
  /// The saved sets of synchronization parameters; each is a subscription, and the device has the
  /// union. None is the same as one in which every parameter has its default.
  public var sets: [[String: String]]
  /// Personalization keys that the device keeps by itself: of kind client and session.
  public var keys: [String: String]
  /// Personalization keys of kind server that the app changed, to be kept for the user; nil takes
  /// one away.
  public var changed: [String: String?]

  public init(
    sets: [[String: String]] = [], keys: [String: String] = [:], changed: [String: String?] = [:]
  ) {
    self.sets = sets
    self.keys = keys
    self.changed = changed
  }

  public var isEmpty: Bool { sets.isEmpty && keys.isEmpty && changed.isEmpty }

  /// Bytes of all names and values, for the limit.
  public var bytes: Int {
    let lengths = { (texts: [String: String]) in
      texts.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }
    return sets.reduce(0) { $0 + lengths($1) } + lengths(keys)
      + changed.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) }
  }
}

extension JSONWriter {
  mutating func texts(_ texts: [String: String?]) {
    beginObject()
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) { field(name, text) }
    endObject()
  }

  mutating func parameters(_ parameters: SubscriptionParameters) {
    beginObject()
    key("sets")
    array(parameters.sets) { $0.texts($1) }
    key("keys")
    texts(parameters.keys)
    key("changed")
    texts(parameters.changed)
    endObject()
  }
}

extension JSONScanner {
  mutating func texts(of member: String) throws(JSONError) -> [String: String?] {
    var texts: [String: String?] = [:]
    try enterObject()
    while let name = try nextName(
      of: member, after: texts.count, atMost: WireLimits.namesInMessage)
    {
      texts[name] = .some(try optionalText(of: name, atMost: WireLimits.parameterBytes))
    }
    return texts
  }

  mutating func parameters() throws(JSONError) -> SubscriptionParameters {
    var parameters = SubscriptionParameters()
    try enterObject()
    while let key = try nextKey() {
      switch key {
      case "sets":
        parameters.sets = try list(of: key, atMost: WireLimits.parameterSets) {
          scanner throws(JSONError) in
          try scanner.texts(of: "a set of parameters").compactMapValues { $0 }
        }
      case "keys": parameters.keys = try texts(of: key).compactMapValues { $0 }
      case "changed": parameters.changed = try texts(of: key)
      default: try skipValue()
      }
    }
    guard parameters.bytes <= WireLimits.parameterBytes else {
      throw failure(
        "parameters has \(parameters.bytes) bytes in names and values; "
          + "\(WireLimits.parameterBytes) are allowed")
    }
    return parameters
  }
}
