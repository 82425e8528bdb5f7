import FerryCrypto
import FerryWorld

/// The form of one file: a head of 64 bytes, then blocks, each sealed, or with a check sum in plain
/// mode. The last block says that it is the last.
///
/// Name, head, position and end are bound into each block: one that is moved, cut or put into
/// another file does not open.
struct BlockForm {
  static let magic: [UInt8] = Array("Ferry data\0\0".utf8)
  static let version: UInt32 = 1
  static let headBytes = 64
  /// Of content in one block. A block is all that a stream holds in memory.
  static let blockBytes = 64 << 10
  static let tagBytes = 16

  /// What is stored, so that it is loaded by the method that belongs to it.
  enum Kind: UInt8 {
    case raw = 0
    case object = 1
    case coded = 2
    case cache = 3
    case settings = 4
  }

  let kind: Kind
  let head: [UInt8]
  private let sealing: SealingContext?
  private let hasher = SHA256Hasher()
  /// Head, position, end and name.
  private var associated: [UInt8]
  /// The file's own prefix, then the position.
  private var nonce: [UInt8]

  /// For a new file.
  init(_ kind: Kind, name: String, keys: StoreKeys) {
    var head = BlockForm.magic
    head.append(number: BlockForm.version)
    head.append(kind.rawValue)
    head.append(keys.sealing == nil ? 0 : 1)
    head += [0, 0]
    head += keys.id
    head += randomBytes(28)
    self.init(kind, head: head, name: name, keys: keys)
  }

  private init(_ kind: Kind, head: [UInt8], name: String, keys: StoreKeys) {
    precondition(head.count == BlockForm.headBytes, "a head of \(head.count) bytes")
    self.kind = kind
    self.head = head
    sealing = keys.sealing.map { SealingContext($0) }
    associated = head + [UInt8](repeating: 0, count: 9) + name.canonicalBytes
    nonce = Array(head[36..<48]) + [UInt8](repeating: 0, count: 12)
  }

  /// For a file that is read.
  init(head: [UInt8], name: String, keys: StoreKeys) throws(PersistenceError) {
    guard head.count == BlockForm.headBytes, head.starts(with: BlockForm.magic) else {
      throw PersistenceError(.damaged, "the data of \(name) is damaged")
    }
    guard head[12..<16].number(UInt32.self) == BlockForm.version else {
      throw PersistenceError(
        .foreign, "the data of \(name) has a form that this version cannot read")
    }
    guard
      let kind = Kind(rawValue: head[16]), head[17] == (keys.sealing == nil ? 0 : 1),
      Array(head[20..<36]) == keys.id
    else {
      throw PersistenceError(.damaged, "the data of \(name) is damaged or belongs to another store")
    }
    self.init(kind, head: head, name: name, keys: keys)
  }

  private mutating func bind(_ position: UInt64, isLast: Bool) {
    for index in 0..<8 {
      let byte = UInt8(truncatingIfNeeded: position >> UInt64(56 - 8 * index))
      associated[BlockForm.headBytes + index] = byte
      nonce[16 + index] = byte
    }
    associated[BlockForm.headBytes + 8] = isLast ? 1 : 0
  }

  /// Seals a block in place; the memory has room for the tag behind the content.
  mutating func seal(
    _ memory: UnsafeMutableRawBufferPointer, position: UInt64, isLast: Bool
  ) -> Bool {
    bind(position, isLast: isLast)
    let split = memory.count - BlockForm.tagBytes
    let content = UnsafeMutableRawBufferPointer(rebasing: memory[..<split])
    let tag = UnsafeMutableRawBufferPointer(rebasing: memory[split...])
    guard let sealing else {
      tag.copyBytes(from: checkSum(content))
      return true
    }
    return associated.withUnsafeBytes { associated in
      nonce.withUnsafeBytes { nonce in
        sealing.seal(content, nonce: nonce, associated: associated, tag: tag)
      }
    }
  }

  /// Opens a block in place; false when it is not the one that was written there.
  mutating func open(
    _ memory: UnsafeMutableRawBufferPointer, position: UInt64, isLast: Bool
  ) -> Bool {
    bind(position, isLast: isLast)
    let split = memory.count - BlockForm.tagBytes
    let content = UnsafeMutableRawBufferPointer(rebasing: memory[..<split])
    let tag = UnsafeRawBufferPointer(rebasing: memory[split...])
    guard let sealing else { return equalInConstantTime(checkSum(content), Array(tag)) }
    return associated.withUnsafeBytes { associated in
      nonce.withUnsafeBytes { nonce in
        sealing.open(content, nonce: nonce, associated: associated, tag: tag)
      }
    }
  }

  private func checkSum(_ content: UnsafeMutableRawBufferPointer) -> [UInt8] {
    hasher.update(associated)
    hasher.update(UnsafeRawBufferPointer(content))
    return Array(hasher.finish().prefix(BlockForm.tagBytes))
  }
}
