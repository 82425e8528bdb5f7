import Ferry
import FerryServer
import Synchronization

/// The folder of a store, held by one store at a time, and whose it is.
final class OfflineFolder: Sendable {
  let path: String
  private let lock: Mutex<Folder?>

  private static let head = "ferry offline store 1"
  private static let name = "store"

  var device: String { "\(path)/device.db" }
  var server: String { "\(path)/server" }

  /// Makes the folder where it is not there. Errors: `inUse` if another store has it open, here or in
  /// another process; `readOnly` if it cannot be made or written.
  init(_ path: String) throws(FerryError) {
    self.path = path
    let folder: Folder
    do throws(ServerError) { folder = try Folder(path) } catch {
      switch error.code {
      case .folderInUse:
        throw FerryError(
          .inUse, "another offline store has the folder \(path) open, here or in another process",
          hint: "Use one OfflineStore for a folder, and close() it before it is opened again.",
          cause: error)
      case .folderNotWritable:
        throw FerryError(
          .readOnly, "the folder \(path) cannot be made or written",
          hint: "Name a folder inside of one that exists and that the app may write.", cause: error)
      default:
        throw FerryError(
          .readOnly, error.message,
          hint: "Let OfflineStore.open make the folder: then only the app may enter it.",
          cause: error)
      }
    }
    lock = Mutex(folder)
  }

  /// Notes whose the folder is where it is new. Errors: `otherOwner` where it is another one's.
  func claim(_ address: String, package: String) throws(FerryError) {
    let own = [OfflineFolder.head, address, package].joined(separator: "\n") + "\n"
    guard let known = Folder.read("\(path)/\(OfflineFolder.name)") else {
      do throws(ServerError) {
        try lock.withLock { folder throws(ServerError) in
          try folder?.keep(Array(own.utf8), as: OfflineFolder.name)
        }
      } catch { throw OfflineStore.error(error) }
      return
    }
    let lines = String(decoding: known, as: UTF8.self).split(separator: "\n").map(String.init)
    guard lines.count == 3, lines[0] == OfflineFolder.head else {
      throw FerryError(
        .otherOwner,
        "the folder \(path) has a file named store that is not of this version of Ferry",
        hint: "Name another folder, or update the app.")
    }
    guard lines[1] == address, lines[2] == package else {
      throw FerryError(
        .otherOwner,
        "the folder \(path) belongs to \(lines[2]) at \(lines[1]), and not to \(package) at \(address)",
        hint: "Name another folder. To give this one up with what is pending in it, delete it.")
    }
  }

  /// Another store may open it from now on.
  func letGo() { lock.withLock { $0 = nil } }
}
