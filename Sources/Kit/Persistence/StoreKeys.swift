import FerryCrypto

/// What seals and names the data of one store; in plain mode nothing is sealed.
struct StoreKeys: Sendable {
  let id: [UInt8]
  let sealing: SealingKey?
  private let naming: [UInt8]

  private static let check = Array("Ferry store key".utf8)

  /// `key` is nil in plain mode.
  init(id: [UInt8], key: [UInt8]?) throws(PersistenceError) {
    self.id = id
    guard let key else {
      sealing = nil
      naming = []
      return
    }
    func derived(_ purpose: String) -> [UInt8] {
      SHA256Digest.authenticate(Array(purpose.utf8) + id, key: key)
    }
    do throws(CryptoError) {
      sealing = try SealingKey(derived("Ferry store data"))
    } catch {
      throw PersistenceError(.invalidArgument, "\(error)")
    }
    naming = derived("Ferry store names")
  }

  func manifest() throws(PersistenceError) -> Manifest {
    do throws(CryptoError) {
      let check = try sealing?.seal(StoreKeys.check, associated: id) ?? []
      return Manifest(id: id, isSecure: sealing != nil, keyCheck: check)
    } catch {
      throw PersistenceError(.cannotWrite, "the store could not be sealed: \(error)")
    }
  }

  func opens(_ manifest: Manifest) -> Bool {
    guard let sealing else { return true }
    return sealing.open(manifest.keyCheck, associated: id) == StoreKeys.check
  }

  /// The file that holds what has this name; a sealed store does not show names.
  func fileName(_ name: String) -> String {
    let bytes = name.canonicalBytes
    let digest =
      sealing == nil
      ? SHA256Digest.hash(bytes) : SHA256Digest.authenticate(bytes, key: naming)
    return hexadecimal(digest.prefix(16)) + ".data"
  }
}
