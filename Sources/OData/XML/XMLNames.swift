/// The namespaces that OData documents use, whatever address their version gave them.
enum XMLSpace: UInt8 {
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

/// The names of elements and attributes of one document, each kept once.
final class XMLNames {
  struct Name {
    let local: String
    let space: XMLSpace
    let address: String
    let prefix: String
  }

  private(set) var names: [Name] = []
  /// The same apart, for comparing without copying.
  private(set) var locals: [String] = []
  private(set) var spaces: [XMLSpace] = []
  private var known: [Pointers: Int32] = [:]
  private var recent: [(local: UInt, address: UInt, prefix: UInt, id: Int32)]

  private struct Pointers: Hashable {
    let local: UInt
    let address: UInt
    let prefix: UInt
  }

  init() { recent = Array(repeating: (0, 0, 0, 0), count: 256) }

  subscript(id: Int32) -> Name { names[Int(id)] }

  func `is`(_ id: Int32, _ space: XMLSpace, _ local: String) -> Bool {
    spaces[Int(id)] == space && locals[Int(id)] == local
  }

  /// libxml2 keeps each text once per parser, so that addresses tell names apart.
  func id(
    _ local: UnsafePointer<UInt8>, _ prefix: UnsafePointer<UInt8>?,
    _ address: UnsafePointer<UInt8>?
  ) -> Int32 {
    let key = Pointers(
      local: UInt(bitPattern: local), address: UInt(bitPattern: address),
      prefix: UInt(bitPattern: prefix))
    let slot = Int(truncatingIfNeeded: (key.local >> 3) ^ (key.address >> 5)) & 255
    if recent[slot].local == key.local, recent[slot].address == key.address,
      recent[slot].prefix == key.prefix
    {
      return recent[slot].id
    }
    let id: Int32
    if let found = known[key] {
      id = found
    } else {
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
      id = Int32(names.count)
      names.append(Name(local: name, space: space, address: spelled, prefix: before))
      locals.append(name)
      spaces.append(space)
      known[key] = id
    }
    recent[slot] = (key.local, key.address, key.prefix, id)
    return id
  }

}
