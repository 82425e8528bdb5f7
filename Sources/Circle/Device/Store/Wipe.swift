import FerryJSON
import FerryWire
import FerryWorld
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Destroys the data of a database whose operator ordered it, in steps that a crash only delays: mark,
/// key, files, receipt.
///
/// Once the mark is there the rest follows, at the next opening at the latest.
package struct Wipe: Sendable, Equatable {
  /// What is done; tests stop behind each.
  package enum Step: String, Sendable, CaseIterable { case mark, key, files, receipt }

  package let path: String
  package let user: String
  package let device: String
  package let receipt: String
  /// Whether all that was there is destroyed, and only the receipt is owed: what is at the path now
  /// was made afterwards.
  package let isDone: Bool

  package init(
    path: String, user: String, device: String, receipt: String, isDone: Bool = false
  ) {
    self.isDone = isDone
    self.path = path
    self.user = user
    self.device = device
    self.receipt = receipt
  }

  /// Called behind each step; only tests set it.
  package static let afterStep = Mutex<(@Sendable (Step) -> Void)?>(nil)

  static func did(_ step: Step) { afterStep.withLock { $0 }?(step) }

  static func markPath(_ path: String) -> String { "\(path)-wipe" }

  /// The wipe that was begun of the database at `path`; nil: none.
  package static func begun(at path: String) -> Wipe? {
    // A mark comes to be whole or not at all. Anything else is not Ferry's, and no order.
    guard let data = FileManager.default.contents(atPath: markPath(path)),
      let node = try? JSONNode.parse([UInt8](data)), let device = node["device"]?.string,
      let receipt = node["receipt"]?.string
    else { return nil }
    return Wipe(
      path: path, user: node["user"]?.string ?? "", device: device, receipt: receipt,
      isDone: node["isDone"]?.boolean ?? false)
  }

  /// Writes the mark so that it outlives the machine. From here on the data is lost.
  func mark() throws(FerryError) {
    let body = body(pending: nil, isDone: isDone)
    do { try SystemFiles().replace(Wipe.markPath(path), with: body) } catch {
      throw Wipe.failure(error)
    }
    if !isDone { Wipe.did(.mark) }
  }

  /// Destroys the key and the tokens, where the app keeps them, and removes the files. May be
  /// repeated. The files are removed also where the key cannot be.
  package func destroy(_ secrets: DatabaseSecrets?) throws(FerryError) {
    var failure: FerryError?
    do throws(FerryError) { try secrets?.remove() } catch { failure = error }
    if failure == nil { Wipe.did(.key) }
    // Not by way of the library: the file may be sealed with a key that is gone.
    for file in [path] + DatabaseFiles.besides.map({ path + $0 }) {
      do { _ = try SystemFiles().remove(file) } catch { throw Wipe.failure(error) }
    }
    if let failure { throw failure }
    let done = Wipe(path: path, user: user, device: device, receipt: receipt, isDone: true)
    try done.mark()
    Wipe.did(.files)
  }

  /// Ends a wipe that a crash has cut short. A key that the app kept is destroyed as well: a
  /// database that was made with it now could not be opened again.
  func finish(_ secrets: DatabaseSecrets?, _ key: DatabaseKey?) throws(FerryError) {
    try destroy(secrets)
    guard secrets != nil, key != nil else { return }
    throw FerryError(
      .wiped, "the data of this device was destroyed by order of the operator",
      hint: "Open the database again, with a new key of `DatabaseSecrets.key()`.")
  }

  /// The server has the receipt.
  func end() throws(FerryError) {
    do { _ = try SystemFiles().remove(Wipe.markPath(path)) } catch { throw Wipe.failure(error) }
    Wipe.did(.receipt)
  }

  func body(pending: Int64?, isDone: Bool = false) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("user", user)
    writer.field("device", device)
    writer.field("receipt", receipt)
    if isDone { writer.field("isDone", true) }
    if let pending { writer.field("pending", pending) }
    writer.endObject()
    return writer.bytes
  }

  private static func failure(_ error: FileError) -> FerryError {
    FerryError(
      .store, "the data could not be destroyed: \(error)",
      hint: "It is tried again at the next opening.", cause: error)
  }
}
