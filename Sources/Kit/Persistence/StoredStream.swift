import FerryWorld

/// Reads the data under a name from its beginning, block by block; one thread at a time.
///
/// It holds a block of 64 KB in memory, for data of any size. It reads the data as it was when the
/// stream was opened, also if the name is stored again or removed meanwhile.
public final class StoredStream {
  private let file: any FileReader
  private let name: String
  private var form: BlockForm
  private var block: [UInt8] = []
  private var place = 0
  private var position: UInt64 = 0
  private var isLast = false

  init(_ file: any FileReader, name: String, keys: StoreKeys) throws(PersistenceError) {
    self.file = file
    self.name = name
    let head = try reading { () throws(FileError) in try file.read(BlockForm.headBytes) }
    form = try BlockForm(head: head, name: name, keys: keys)
  }

  var kind: BlockForm.Kind { form.kind }
  /// How many bytes the file has; a little more than its content.
  var fileBytes: Int { file.sizeBytes }

  /// The next bytes, at most `count`; empty at the end. Blocks its thread for a block.
  ///
  /// `.damaged` when the next block is damaged or was changed; everything that was returned before
  /// is correct.
  public func read(_ count: Int) throws(PersistenceError) -> [UInt8] {
    precondition(count > 0, "\(count) bytes asked for")
    var bytes: [UInt8] = []
    while bytes.count < count {
      if place == block.count {
        if isLast { break }
        try next()
        continue
      }
      let end = min(block.count, place + count - bytes.count)
      bytes += block[place..<end]
      place = end
    }
    return bytes
  }

  /// Everything that is left.
  func rest() throws(PersistenceError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fileBytes)
    while true {
      let part = try read(BlockForm.blockBytes)
      if part.isEmpty { return bytes }
      bytes += part
    }
  }

  private func next() throws(PersistenceError) {
    let damaged = PersistenceError(
      .damaged, "the data of \(name) is damaged behind byte \(position) of its blocks")
    let size = try reading { () throws(FileError) in try file.read(4) }
    guard size.count == 4 else { throw damaged }
    let number = size.number(UInt32.self)
    let count = Int(number & 0x7fff_ffff)
    guard count <= BlockForm.blockBytes else { throw damaged }
    block = try reading { () throws(FileError) in try file.read(count + BlockForm.tagBytes) }
    guard block.count == count + BlockForm.tagBytes else { throw damaged }
    isLast = number >> 31 == 1
    let isOpen = block.withUnsafeMutableBytes {
      form.open($0, position: position, isLast: isLast)
    }
    guard isOpen else {
      block = []
      throw damaged
    }
    block.removeLast(BlockForm.tagBytes)
    place = 0
    position += 1
    if isLast {
      let more = try reading { () throws(FileError) in try file.read(1) }
      guard more.isEmpty else { throw damaged }
    }
  }
}

/// Stores data under a name, block by block; one thread at a time.
///
/// The data is not visible before `close` returns. A writer that is never closed stores nothing.
public final class StoredStreamWriter {
  private let persistence: Persistence
  private let draft: Persistence.Draft
  private var form: BlockForm
  private var block: [UInt8] = []
  private var position: UInt64 = 0
  private var isOpen = true

  init(_ persistence: Persistence, _ draft: Persistence.Draft) throws(PersistenceError) {
    self.persistence = persistence
    self.draft = draft
    form = draft.form
    block.reserveCapacity(BlockForm.blockBytes + BlockForm.tagBytes)
    let file = draft.file
    let head = form.head
    try writing { () throws(FileError) in try file.write(head) }
  }

  deinit { if isOpen { persistence.discard(draft) } }

  /// Appends bytes. Blocks its thread while full blocks are written. After an error the stream
  /// cannot be used any more.
  public func write(_ bytes: [UInt8]) throws(PersistenceError) {
    try append(bytes[...])
  }

  private func append(_ bytes: ArraySlice<UInt8>) throws(PersistenceError) {
    precondition(isOpen, "the stream is closed")
    var rest = bytes
    while !rest.isEmpty {
      // A full block waits until more comes: it may be the last.
      if block.count == BlockForm.blockBytes { try flush(isLast: false) }
      let part = rest.prefix(BlockForm.blockBytes - block.count)
      block += part
      rest = rest.dropFirst(part.count)
    }
  }

  private func flush(isLast: Bool) throws(PersistenceError) {
    var size: [UInt8] = []
    size.append(number: UInt32(block.count) | (isLast ? 1 << 31 : 0))
    block.append(contentsOf: repeatElement(0, count: BlockForm.tagBytes))
    let isSealed = block.withUnsafeMutableBytes {
      form.seal($0, position: position, isLast: isLast)
    }
    guard isSealed else {
      throw PersistenceError(.cannotWrite, "the data of \(draft.name) could not be sealed")
    }
    let file = draft.file
    try writing { () throws(FileError) in
      try file.write(size)
      try file.write(block)
    }
    block.removeAll(keepingCapacity: true)
    position += 1
  }

  /// Stores the written data in one step and replaces earlier data with this name. It is on the
  /// disk when the call returns.
  public func close() throws(PersistenceError) {
    try flush(isLast: true)
    try persistence.commit(draft)
    isOpen = false
  }
}
