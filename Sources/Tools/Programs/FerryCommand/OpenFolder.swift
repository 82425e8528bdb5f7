import Glibc

/// A folder that is open: what is done in it is done in this folder, wherever its path leads later.
final class OpenFolder {
  let path: String
  let descriptor: CInt
  private let facts: stat

  /// Follows a link only where `followsLink` says so.
  init(_ path: String, followsLink: Bool = true) throws(CommandError) {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
    let descriptor = open(path, flags)
    guard descriptor >= 0 else {
      throw CommandError(
        "the folder \(path) cannot be opened: \(String(cString: strerror(errno)))",
        hint: "Name a folder that exists, and run this as a user who may enter it.")
    }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else {
      close(descriptor)
      throw CommandError(
        "the folder \(path) cannot be read: \(String(cString: strerror(errno)))",
        hint: "Check the disk.")
    }
    self.path = path
    self.descriptor = descriptor
    self.facts = facts
  }

  deinit { close(descriptor) }

  var owner: uid_t { facts.st_uid }
  var mode: mode_t { facts.st_mode & 0o7777 }

  /// Where it is without links on the way, as long as nobody moves it.
  var realPath: String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  /// Whether the path still leads to this folder.
  func isAt(_ name: String, in parent: OpenFolder) -> Bool {
    var found = stat()
    guard fstatat(parent.descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return found.st_ino == facts.st_ino && found.st_dev == facts.st_dev
  }

  /// Throws unless it belongs to this user or root, and nobody else may change what is in it.
  func requireTrusted(_ what: String) throws(CommandError) {
    guard owner == geteuid() || owner == 0 else {
      throw CommandError(
        "\(what) \(path) belongs to another user of this machine (uid \(owner)), who could exchange "
          + "what is in it",
        hint: "Run this as that user, or use a folder of your own.")
    }
    // In a folder like /tmp only the owner of an entry may rename it.
    guard mode & 0o002 == 0 || mode & S_ISVTX != 0 else {
      throw CommandError(
        "\(what) \(path) may be changed by everybody on this machine",
        hint: "Type: chmod o-w \(path), or use another folder.")
    }
  }

  /// Opens a plain file for reading. A link is not followed, and a file of anybody but this user, root
  /// or the folder's owner is refused. `name` may have one folder before it.
  func reading(_ name: String) throws(CommandError) -> CInt {
    let parts = name.split(separator: "/", maxSplits: 1)
    if parts.count == 2 {
      let inner = try OpenFolder("/proc/self/fd/\(descriptor)/\(parts[0])", followsLink: false)
      return try inner.reading(String(parts[1]))
    }
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      let reason =
        errno == ELOOP
        ? "it is a link, and links are not followed" : String(cString: strerror(errno))
      throw CommandError(
        "\(path)/\(name) cannot be read: \(reason)", hint: "Check that it is a file of the server.")
    }
    var found = stat()
    guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG,
      [geteuid(), 0, owner].contains(found.st_uid)
    else {
      close(file)
      throw CommandError(
        "\(path)/\(name) is not a plain file of the folder's owner", hint: "Use another folder.")
    }
    return file
  }
}
