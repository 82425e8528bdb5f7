import FerryOData

/// The entries of one collection, in the order in which they were first set: each as bytes, with
/// the text that is searched, found by id, and in the order of their last use.
///
/// A value: a copy of it is a picture of the collection that later changes leave alone.
struct EntryTable: Sendable {
  private struct Slot {
    var entry: ByteArena.Place
    var text: ByteArena.Place
    /// Neighbours in the order of use; -1 is none.
    var newer: Int32 = -1
    var older: Int32 = -1
    var isPinned = false
    var isLive = true
  }

  private var slots: [Slot] = []
  private var entries = ByteArena()
  private var texts = ByteArena()
  /// Slots by the hash of their ids, open addressing; -1 is free.
  private var index: [Int32] = []
  private(set) var names = NameTable()
  private(set) var count = 0
  private(set) var pinnedCount = 0
  private var newest: Int32 = -1
  private var oldest: Int32 = -1
  var fields: SearchFields

  init(fields: SearchFields) { self.fields = fields }

  /// What the unpinned entries and their texts take, but for the room of the blocks.
  private(set) var unpinnedBytes = 0

  /// All memory of the table.
  var memoryBytes: Int {
    entries.capacityBytes + texts.capacityBytes + slots.capacity * MemoryLayout<Slot>.stride
      + index.capacity * 4
  }

  func slot(_ id: String) -> Int? {
    guard !index.isEmpty else { return nil }
    var id = id
    return id.withUTF8 { id in
      let found = index[position(of: id)]
      return found < 0 ? nil : Int(found)
    }
  }

  /// Where an id is in the index, or would be.
  private func position(of id: UnsafeBufferPointer<UInt8>) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(id))
    var position = hasher.finalize() & (index.count - 1)
    while index[position] >= 0 {
      let isSame = entries.with(slots[Int(index[position])].entry) { bytes in
        var reader = CacheReader(bytes)
        guard let own = try? reader.slice() else { return false }
        return own.elementsEqual(id)
      }
      if isSame { return position }
      position = (position + 1) & (index.count - 1)
    }
    return position
  }

  /// The slots of all entries.
  var liveSlots: [Int32] {
    slots.indices.compactMap { slots[$0].isLive ? Int32($0) : nil }
  }

  func entry(_ slot: Int) -> ODataEntry {
    entries.with(slots[slot].entry) { bytes in
      var reader = EntryReader(bytes, names: names.names)
      // The bytes are our own, or were read once when they came.
      return (try? reader.whole()) ?? ODataEntry()
    }
  }

  func bytes(_ slot: Int) -> [UInt8] { entries.bytes(slots[slot].entry) }
  func isPinned(_ slot: Int) -> Bool { slots[slot].isPinned }

  func search(_ term: SearchTerm, among candidates: [Int32]?) -> [Int32] {
    var found: [Int32] = []
    func look(_ number: Int32) {
      let slot = slots[Int(number)]
      if slot.isLive && texts.with(slot.text, { term.matches($0) }) { found.append(number) }
    }
    if let candidates {
      for number in candidates { look(number) }
    } else {
      for number in slots.indices { look(Int32(number)) }
    }
    return found
  }

  /// Sets an entry; it is the newest in use then.
  mutating func set(_ entry: ODataEntry) throws(ODataCacheError) {
    var writer = EntryWriter(names)
    // The table alone holds the names while they are added to.
    names = NameTable()
    do throws(ODataCacheError) {
      try writer.write(entry)
    } catch {
      names = writer.names
      throw error
    }
    names = writer.names
    store(id: entry.id ?? "", writer.take(), SearchText.of(entry, fields), isPinned: nil)
  }

  /// Takes a stored entry; nil when its bytes are none.
  mutating func load(_ bytes: [UInt8], isPinned: Bool) -> ODataEntry? {
    guard let entry = read(bytes), let id = entry.id else { return nil }
    store(id: id, bytes, SearchText.of(entry, fields), isPinned: isPinned)
    return entry
  }

  private func read(_ bytes: [UInt8]) -> ODataEntry? {
    bytes.withUnsafeBufferPointer { (memory: UnsafeBufferPointer<UInt8>) -> ODataEntry? in
      var reader = EntryReader(memory, names: names.names)
      return try? reader.whole()
    }
  }

  /// Takes the names of stored entries; false when the table has others already.
  mutating func load(names: [String]) -> Bool {
    guard count == 0 else { return names == self.names.names }
    self.names = NameTable(names)
    return true
  }

  private mutating func store(
    id: String, _ bytes: [UInt8], _ text: [UInt8], isPinned: Bool?
  ) {
    if (count + 1) * 2 > index.count { growIndex() }
    var id = id
    let home = id.withUTF8 { self.position(of: $0) }
    let number: Int
    if index[home] >= 0 {
      number = Int(index[home])
      release(number)
      slots[number].entry = entries.add(bytes)
      slots[number].text = texts.add(text)
    } else {
      number = slots.count
      slots.append(Slot(entry: entries.add(bytes), text: texts.add(text)))
      index[home] = Int32(number)
      count += 1
      link(number)
      unpinnedBytes += size(number)
      if let isPinned { pin(number, isPinned) }
      return
    }
    if !slots[number].isPinned { unpinnedBytes += size(number) }
    touch(number)
    if let isPinned { pin(number, isPinned) }
    compactIfNeeded()
  }

  private func size(_ number: Int) -> Int {
    Int(slots[number].entry.count + slots[number].text.count)
  }

  /// Gives back the bytes of a slot that gets others, or goes.
  private mutating func release(_ number: Int) {
    if !slots[number].isPinned { unpinnedBytes -= size(number) }
    entries.free(slots[number].entry)
    texts.free(slots[number].text)
  }

  mutating func remove(_ number: Int) {
    if slots[number].isPinned { pinnedCount -= 1 } else { unlink(number) }
    leaveIndex(number)
    release(number)
    slots[number].isLive = false
    count -= 1
    compactIfNeeded()
  }

  /// Removes the unpinned entry that was not used for longest; false when there is none.
  mutating func removeOldest(keeping kept: Int?) -> Bool {
    guard oldest >= 0, Int(oldest) != kept else { return false }
    remove(Int(oldest))
    return true
  }

  mutating func touch(_ number: Int) {
    guard !slots[number].isPinned, newest != Int32(number) else { return }
    unlink(number)
    link(number)
  }

  mutating func pin(_ number: Int, _ isPinned: Bool) {
    guard slots[number].isPinned != isPinned else { return }
    if isPinned {
      unlink(number)
      unpinnedBytes -= size(number)
      pinnedCount += 1
    } else {
      link(number)
      unpinnedBytes += size(number)
      pinnedCount -= 1
    }
    slots[number].isPinned = isPinned
  }

  private mutating func link(_ number: Int) {
    slots[number].older = newest
    slots[number].newer = -1
    if newest >= 0 { slots[Int(newest)].newer = Int32(number) }
    newest = Int32(number)
    if oldest < 0 { oldest = newest }
  }

  private mutating func unlink(_ number: Int) {
    let slot = slots[number]
    if slot.newer >= 0 { slots[Int(slot.newer)].older = slot.older } else { newest = slot.older }
    if slot.older >= 0 { slots[Int(slot.older)].newer = slot.newer } else { oldest = slot.newer }
  }

  private mutating func growIndex() { rebuildIndex(max(16, index.count * 2)) }

  private mutating func rebuildIndex(_ size: Int) {
    index = [Int32](repeating: -1, count: size)
    for number in slots.indices where slots[number].isLive { enter(number) }
  }

  private func hash(_ number: Int) -> Int {
    entries.with(slots[number].entry) { bytes in
      var reader = CacheReader(bytes)
      var hasher = Hasher()
      if let id = try? reader.slice() { hasher.combine(bytes: UnsafeRawBufferPointer(id)) }
      return hasher.finalize()
    }
  }

  /// Takes a slot out of the index; those behind it that would not be found any more move up.
  private mutating func leaveIndex(_ number: Int) {
    let mask = index.count - 1
    var gap = hash(number) & mask
    while index[gap] != Int32(number) { gap = (gap + 1) & mask }
    var next = gap
    while true {
      next = (next + 1) & mask
      guard index[next] >= 0 else { break }
      let home = hash(Int(index[next])) & mask
      let isReached = gap <= next ? gap < home && home <= next : gap < home || home <= next
      if isReached { continue }
      index[gap] = index[next]
      gap = next
    }
    index[gap] = -1
  }

  private mutating func enter(_ number: Int) {
    var position = hash(number) & (index.count - 1)
    while index[position] >= 0 { position = (position + 1) & (index.count - 1) }
    index[position] = Int32(number)
  }

  /// Copies what is alive when more than half is not.
  private mutating func compactIfNeeded() {
    let dead = slots.count - count
    let free = entries.freeBytes + texts.freeBytes
    let live = entries.liveBytes + texts.liveBytes
    guard dead > max(1_024, count) || free > max(ByteArena.blockBytes, live) else { return }
    var moved = EntryTable(fields: fields)
    moved.names = names
    var numbers = [Int32](repeating: -1, count: slots.count)
    for number in slots.indices where slots[number].isLive {
      numbers[number] = Int32(moved.slots.count)
      var slot = slots[number]
      slot.entry = entries.with(slot.entry) { moved.entries.add($0) }
      slot.text = texts.with(slot.text) { moved.texts.add($0) }
      moved.slots.append(slot)
    }
    for number in moved.slots.indices {
      let slot = moved.slots[number]
      moved.slots[number].newer = slot.newer < 0 ? -1 : numbers[Int(slot.newer)]
      moved.slots[number].older = slot.older < 0 ? -1 : numbers[Int(slot.older)]
    }
    moved.newest = newest < 0 ? -1 : numbers[Int(newest)]
    moved.oldest = oldest < 0 ? -1 : numbers[Int(oldest)]
    moved.count = count
    moved.pinnedCount = pinnedCount
    moved.unpinnedBytes = unpinnedBytes
    moved.rebuildIndex(index.count)
    self = moved
  }
}
