/// The keys of a feed's objects, each made and taken apart once: objects of a feed have the same
/// keys in the same order, so the one that followed last time is looked at first.
final class JSONKeys {
  /// `@odata.type`, `odata.type` and `@type` are the same control; `Name@odata.type` is one of Name.
  final class Key {
    let text: String
    /// What stands before the control; the whole text of a plain member.
    let name: String
    /// Nil for a plain member.
    let control: String?
    /// Whether the control is one of the protocol, not of a vocabulary.
    let isProtocol: Bool

    private var index: ODataTypeIndex?
    private var found: ODataTypeIndex.Member?

    /// What the schema says of the key, asked for once for each type.
    func member(of type: ODataTypeIndex?) -> ODataTypeIndex.Member? {
      guard let type else { return nil }
      if index !== type { (index, found) = (type, type.members[name]) }
      return found
    }

    init(_ text: String, isVerbose: Bool) {
      self.text = text
      guard let at = text.utf8.firstIndex(of: UInt8(ascii: "@")) else {
        // `#NS.Action` offers an action or function.
        let isOffer = !isVerbose && text.hasPrefix("#")
        isProtocol = isOffer || (!isVerbose && text.hasPrefix("odata."))
        name = isProtocol ? "" : text
        control = isProtocol ? String(text.dropFirst(isOffer ? 0 : 6)) : nil
        return
      }
      name = String(text[..<at])
      let rest = text[text.index(after: at)...]
      if rest.hasPrefix("odata.") {
        control = String(rest.dropFirst(6))
        isProtocol = true
      } else {
        control = String(rest)
        isProtocol = !rest.utf8.contains(UInt8(ascii: "."))
      }
    }
  }

  /// Verbose JSON (inside `d`) has no controls but `__metadata`.
  let isVerbose: Bool
  private var known: [(bytes: [UInt8], key: Key)] = []
  private var next = 0

  init(isVerbose: Bool) { self.isVerbose = isVerbose }

  func find(_ text: UnsafeBufferPointer<UInt8>) -> Key? {
    let count = known.count
    for step in 0..<count {
      let place = next + step < count ? next + step : next + step - count
      if known[place].bytes.count == text.count, known[place].bytes.elementsEqual(text) {
        next = place + 1 < count ? place + 1 : 0
        return known[place].key
      }
    }
    return nil
  }

  /// Keeps a key; those of objects with ever new ones are not kept.
  func add(_ text: String, _ bytes: UnsafeBufferPointer<UInt8>?) -> Key {
    let key = Key(text, isVerbose: isVerbose)
    if let bytes, known.count < 128 { known.append((Array(bytes), key)) }
    return key
  }
}
