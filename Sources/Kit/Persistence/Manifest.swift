import FerryCrypto

/// The one file that says which store a folder holds.
struct Manifest: Equatable {
  static let fileName = "store.ferry"
  static let magic: [UInt8] = Array("Ferry store\0".utf8)
  static let version: UInt32 = 1
  static let idBytes = 16

  enum State: UInt8 {
    case normal = 0
    /// All data is being removed; whoever opens the store goes on with it.
    case wiping = 1
    /// The data of another folder is being copied to here; it is whole there.
    case arriving = 2
    /// The data has been copied to another folder, and is being removed here.
    case moved = 3
  }

  var state: State = .normal
  /// Another one after each change of the mode: nothing of before fits any more.
  var id: [UInt8]
  var isSecure: Bool
  /// Opens under the store's key only; empty in plain mode.
  var keyCheck: [UInt8]

  func encoded() -> [UInt8] {
    var bytes = Manifest.magic
    bytes.append(number: Manifest.version)
    bytes.append(state.rawValue)
    bytes.append(isSecure ? 1 : 0)
    bytes += id
    bytes.append(number: UInt32(keyCheck.count))
    bytes += keyCheck
    return bytes + SHA256Digest.hash(bytes)
  }

  init(id: [UInt8], isSecure: Bool, keyCheck: [UInt8]) {
    self.id = id
    self.isSecure = isSecure
    self.keyCheck = keyCheck
  }

  init(_ bytes: [UInt8], folder: String) throws(PersistenceError) {
    let head = Manifest.magic.count + 4 + 2 + Manifest.idBytes + 4
    let body = Array(bytes.dropLast(32))
    guard body.count >= head, SHA256Digest.hash(body) == Array(bytes.suffix(32)) else {
      throw PersistenceError(.damaged, "\(folder)/\(Manifest.fileName) is damaged")
    }
    guard
      body.starts(with: Manifest.magic), body[12..<16].number(UInt32.self) == Manifest.version
    else {
      throw PersistenceError(.foreign, "\(folder) has a form that this version cannot read")
    }
    guard
      let state = State(rawValue: body[16]), body[17] < 2,
      body[34..<38].number(UInt32.self) == UInt32(body.count - head)
    else {
      throw PersistenceError(.damaged, "\(folder)/\(Manifest.fileName) is damaged")
    }
    self.state = state
    isSecure = body[17] == 1
    id = Array(body[18..<34])
    keyCheck = Array(body[38...])
  }
}
