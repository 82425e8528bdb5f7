import FerryJSON

/// The namespaces that OData documents use, whatever address their version gave them.
package enum XMLSpace: UInt8, BitwiseCopyable {
  case none, atom, app, data, metadata, edm, edmx, sap, genericPlayer, xml, openSearch, tombstone
  case gml, other

  init(_ address: String) {
    switch address {
    case "": self = .none
    case "http://www.w3.org/2005/Atom": self = .atom
    case "http://www.w3.org/2007/app", "http://purl.org/atom/app#": self = .app
    case "http://schemas.microsoft.com/ado/2007/08/dataservices",
      "http://docs.oasis-open.org/odata/ns/data":
      self = .data
    case "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata",
      "http://docs.oasis-open.org/odata/ns/metadata":
      self = .metadata
    case "http://docs.oasis-open.org/odata/ns/edm": self = .edm
    case "http://docs.oasis-open.org/odata/ns/edmx": self = .edmx
    case "http://www.w3.org/XML/1998/namespace": self = .xml
    case "http://a9.com/-/spec/opensearch/1.1/", "http://a9.com/-/spec/opensearchdescription/1.1/":
      self = .openSearch
    case "http://purl.org/atompub/tombstones/1.0": self = .tombstone
    case "http://www.opengis.net/gml": self = .gml
    default:
      if address.hasPrefix("http://schemas.microsoft.com/ado/") {
        self = address.hasSuffix("/edmx") ? .edmx : address.hasSuffix("/edm") ? .edm : .other
      } else if address.lowercased().hasPrefix("http://www.sap.com/protocols/sapdata") {
        self = address.lowercased().hasSuffix("/genericplayer") ? .genericPlayer : .sap
      } else {
        self = .other
      }
    }
  }

  /// What an undeclared prefix most probably meant.
  init(prefix: String) {
    switch prefix {
    case "sap": self = .sap
    case "gp": self = .genericPlayer
    case "m": self = .metadata
    case "d": self = .data
    case "edmx": self = .edmx
    case "atom": self = .atom
    case "app": self = .app
    default: self = .other
    }
  }
}

/// What is looked at for each element, in memory of its own: nothing is counted or copied for it.
struct XMLNameTable: ~Copyable {
  struct Entry: BitwiseCopyable {
    /// Where the local name stands.
    let start: Int32
    let end: Int32
    let space: XMLSpace
    let word: XMLWord
  }

  private var entries = FlatArray<Entry>(reserving: 64)
  private var locals = FlatArray<UInt8>(reserving: 1_024)

  @inline(__always)
  subscript(id: Int32) -> Entry { entries[Int(id)] }

  @inline(__always)
  func isLocal(_ id: Int32, _ local: String) -> Bool {
    let entry = entries[Int(id)]
    return UnsafeBufferPointer(rebasing: locals.elements[Int(entry.start)..<Int(entry.end)])
      .holds(local)
  }

  mutating func append(_ local: String, _ space: XMLSpace, _ word: XMLWord) {
    let start = Int32(truncatingIfNeeded: locals.count)
    for byte in local.utf8 { locals.append(byte) }
    let end = Int32(truncatingIfNeeded: locals.count)
    entries.append(Entry(start: start, end: end, space: space, word: word))
  }
}

/// The names of elements and attributes of one document, each kept once.
final class XMLNames {
  struct Name {
    let local: String
    let space: XMLSpace
    let address: String
    let prefix: String
    let word: XMLWord
  }

  private var names: [Name] = []
  /// Of the same names; it stands still while the names live.
  let table: UnsafeMutablePointer<XMLNameTable>

  init() {
    table = .allocate(capacity: 1)
    table.initialize(to: XMLNameTable())
  }

  deinit {
    table.deinitialize(count: 1)
    table.deallocate()
  }

  subscript(id: Int32) -> Name { names[Int(id)] }

  func `is`(_ id: Int32, _ space: XMLSpace, _ local: String) -> Bool {
    table.pointee[id].space == space && isLocal(id, local)
  }

  @inline(__always)
  func isLocal(_ id: Int32, _ local: String) -> Bool { table.pointee.isLocal(id, local) }

  func local(_ id: Int32) -> String { names[Int(id)].local }
  @inline(__always) func space(_ id: Int32) -> XMLSpace { table.pointee[id].space }
  @inline(__always) func word(_ id: Int32) -> XMLWord { table.pointee[id].word }

  /// The number of a name that was not met before under these addresses.
  func add(
    _ local: UnsafePointer<UInt8>, _ prefix: UnsafePointer<UInt8>?,
    _ address: UnsafePointer<UInt8>?
  ) -> Int32 {
    let spelled = address.map { String(cString: $0) } ?? ""
    let shown = prefix.map { String(cString: $0) } ?? ""
    // An undeclared prefix may arrive in front of the local name.
    var name = String(cString: local)
    var space = XMLSpace(spelled)
    var before = shown
    if let colon = name.firstIndex(of: ":") {
      before = String(name[..<colon])
      name = String(name[name.index(after: colon)...])
      space = XMLSpace(prefix: before)
    } else if address == nil, prefix != nil {
      space = XMLSpace(prefix: shown)
    }
    let word = XMLWord(space: space, local: name)
    names.append(Name(local: name, space: space, address: spelled, prefix: before, word: word))
    table.pointee.append(name, space, word)
    return Int32(names.count - 1)
  }
}

/// Where the parser keeps its names, and which numbers they have here.
///
/// libxml2 keeps each text once per parser, so that addresses tell names apart.
struct XMLNamePlaces: ~Copyable {
  struct Slot: BitwiseCopyable {
    var local: UInt = 0
    var address: UInt = 0
    var prefix: UInt = 0
    var id: Int32 = -1
  }

  private var slots: FlatArray<Slot>
  private var used = 0
  private var mask: Int

  init() {
    slots = FlatArray(reserving: 256)
    mask = 255
    for _ in 0...mask { slots.append(Slot()) }
  }

  @inline(__always)
  private static func place(_ local: UInt, _ address: UInt, _ prefix: UInt) -> Int {
    let mixed = (local >> 2) &* 0x9E37_79B9_7F4A_7C15 ^ (address >> 3) ^ (prefix >> 1)
    return Int(truncatingIfNeeded: mixed ^ (mixed >> 29))
  }

  /// The number of a name; -1 when it was not met before.
  @inline(__always)
  func find(_ local: UInt, _ address: UInt, _ prefix: UInt) -> Int32 {
    var place = Self.place(local, address, prefix) & mask
    while true {
      let slot = slots[place]
      if slot.id < 0 { return -1 }
      if slot.local == local, slot.address == address, slot.prefix == prefix { return slot.id }
      place = (place + 1) & mask
    }
  }

  mutating func insert(_ local: UInt, _ address: UInt, _ prefix: UInt, _ id: Int32) {
    if used * 2 > mask { widen() }
    var place = Self.place(local, address, prefix) & mask
    while slots[place].id >= 0 { place = (place + 1) & mask }
    slots[place] = Slot(local: local, address: address, prefix: prefix, id: id)
    used += 1
  }

  private mutating func widen() {
    var wider = FlatArray<Slot>(reserving: (mask + 1) * 4)
    mask = (mask + 1) * 4 - 1
    for _ in 0...mask { wider.append(Slot()) }
    for index in 0..<slots.count where slots[index].id >= 0 {
      let slot = slots[index]
      var place = Self.place(slot.local, slot.address, slot.prefix) & mask
      while wider[place].id >= 0 { place = (place + 1) & mask }
      wider[place] = slot
    }
    slots = wider
  }
}
