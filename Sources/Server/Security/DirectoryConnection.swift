import Glibc

/// One connection to a directory, for one login. It ends with the value.
final class DirectoryConnection {
  private let library: DirectoryLibrary
  private let handle: DirectoryLibrary.Handle
  private let seconds: Int

  struct Entry {
    let name: String
    let values: [String]
  }

  /// Options of libldap that its header names.
  private enum Option {
    static let referrals: Int32 = 0x0008
    static let version: Int32 = 0x0011
    static let timeout: Int32 = 0x5002
    static let networkTimeout: Int32 = 0x5005
    static let authorities: Int32 = 0x6002
    static let requireCertificate: Int32 = 0x6006
    static let newContext: Int32 = 0x600F
  }

  /// A certificate must be there, and be good for the name.
  private static let demand: Int32 = 2

  init(
    _ library: DirectoryLibrary, _ server: String, _ settings: DirectoryModule.Settings
  ) throws(DirectoryError) {
    self.library = library
    seconds = settings.seconds
    var made: DirectoryLibrary.Handle?
    let status = library.initialize(&made, server)
    guard status == 0, let made else { throw DirectoryConnection.error(library, status) }
    handle = made
    var version: Int32 = 3
    var wait = timeval(tv_sec: settings.seconds, tv_usec: 0)
    set(Option.version, &version)
    set(Option.timeout, &wait)
    set(Option.networkTimeout, &wait)
    // A referral leads where another server wants.
    _ = library.setOption(handle, Option.referrals, nil)
    var demand = DirectoryConnection.demand
    set(Option.requireCertificate, &demand)
    if let trust = settings.trust {
      let done = trust.withCString { library.setOption(handle, Option.authorities, $0) }
      guard done == 0 else { throw .failed(done, "the file \(trust) cannot be used") }
    }
    var client: Int32 = 0
    guard library.setOption(handle, Option.newContext, &client) == 0 else {
      throw .failed(-1, "TLS cannot be made ready; check the file of certificates")
    }
    guard settings.startsTLS, !server.lowercased().hasPrefix("ldaps:") else { return }
    try check(library.startTLS(handle, nil, nil))
  }

  deinit { _ = library.unbind(handle, nil, nil) }

  func bind(_ name: String, _ password: String) throws(DirectoryError) {
    var secret = password.utf8.map { CChar(bitPattern: $0) } + [0]
    let status = secret.withUnsafeMutableBufferPointer { buffer in
      var bytes = DirectoryLibrary.Bytes(
        count: UInt(buffer.count - 1), start: buffer.baseAddress)
      return name.withCString { library.bind(handle, $0, nil, &bytes, nil, nil, nil) }
    }
    for index in secret.indices { secret[index] = 0 }
    try check(status)
  }

  /// Entries below the base, at most so many; each with the values of one attribute.
  func search(
    _ base: String, _ filter: String, attribute: String?, most: Int
  ) throws(DirectoryError) -> [Entry] {
    // "1.1": no attribute.
    var wanted = (attribute ?? "1.1").utf8.map { CChar(bitPattern: $0) } + [0]
    var wait = timeval(tv_sec: seconds, tv_usec: 0)
    var answer: DirectoryLibrary.Message?
    let subtree: Int32 = 2
    let status = wanted.withUnsafeMutableBufferPointer { name in
      var names: [UnsafeMutablePointer<CChar>?] = [name.baseAddress, nil]
      return library.search(
        handle, base, subtree, filter, &names, 0, nil, nil, &wait, Int32(most), &answer)
    }
    defer { if let answer { _ = library.freeMessage(answer) } }
    // More than asked for: what came is enough to see that.
    let sizeLimitExceeded: Int32 = 4
    if status != sizeLimitExceeded || attribute != nil { try check(status) }
    guard let answer else { return [] }
    var entries: [Entry] = []
    var next = library.firstEntry(handle, answer)
    while let entry = next {
      if let name = library.name(handle, entry) {
        entries.append(
          Entry(
            name: String(cString: name), values: attribute.map { values($0, entry) } ?? []))
        library.freeText(name)
      }
      next = library.nextEntry(handle, entry)
    }
    return entries
  }

  private func values(_ attribute: String, _ entry: DirectoryLibrary.Message) -> [String] {
    guard let list = library.values(handle, entry, attribute) else { return [] }
    defer { library.freeValues(list) }
    var texts: [String] = []
    var place = 0
    while let value = list[place] {
      let bytes = value.assumingMemoryBound(to: DirectoryLibrary.Bytes.self).pointee
      let raw = UnsafeRawBufferPointer(start: bytes.start, count: Int(bytes.count))
      if let text = String(validating: raw, as: UTF8.self), !text.isEmpty { texts.append(text) }
      place += 1
    }
    return texts
  }

  private func set<Value>(_ option: Int32, _ value: inout Value) {
    _ = withUnsafePointer(to: value) { library.setOption(handle, option, $0) }
  }

  private func check(_ status: Int32) throws(DirectoryError) {
    guard status == 0 else { throw DirectoryConnection.error(library, status) }
  }

  private static func error(_ library: DirectoryLibrary, _ status: Int32) -> DirectoryError {
    .failed(status, library.text(status).map { String(cString: $0) } ?? "status \(status)")
  }
}
