import FerryCertificates
import FerryServer
import Foundation
import Glibc

/// What `ferry doctor` finds on this machine. Nothing is changed.
struct MachineChecks {
  enum State: String {
    case ok, warning, problem
  }

  struct Finding {
    let subject: String
    let state: State
    let text: String
    /// Empty where there is nothing to do.
    let cure: String
  }

  private(set) var findings: [Finding] = []

  private mutating func ok(_ subject: String, _ text: String) {
    findings.append(Finding(subject: subject, state: .ok, text: text, cure: ""))
  }

  private mutating func note(
    _ state: State, _ subject: String, _ text: String, _ cure: String
  ) {
    findings.append(Finding(subject: subject, state: state, text: text, cure: cure))
  }

  /// Below this the server soon cannot store what devices send.
  private static let leastFreeBytes: UInt64 = 200 << 20
  private static let goodFreeBytes: UInt64 = 2 << 30

  mutating func folder(_ path: String) {
    let subject = "data folder"
    var facts = stat()
    guard stat(path, &facts) == 0 else {
      guard errno == ENOENT else {
        note(
          .problem, subject, "\(path) cannot be read: \(String(cString: strerror(errno)))",
          "Run this as the user of the server, and let that user enter the folder.")
        return
      }
      let parent = (path as NSString).deletingLastPathComponent
      guard access(parent.isEmpty ? "." : parent, W_OK) == 0 else {
        note(
          .problem, subject, "\(path) is not there, and this user cannot create it",
          "Create it: install -d -m 700 -o USER \(path).")
        return
      }
      ok(subject, "\(path) is not there yet; ferryd creates it")
      space(parent.isEmpty ? "." : parent)
      return
    }
    guard facts.st_mode & S_IFMT == S_IFDIR else {
      note(.problem, subject, "\(path) is not a folder", "Name a folder (data).")
      return
    }
    if facts.st_mode & 0o077 != 0 {
      note(
        .problem, subject, "others on this machine may enter \(path)", "chmod 700 \(path)")
    } else if facts.st_uid != geteuid() {
      note(
        .warning, subject, "\(path) belongs to \(MachineChecks.name(of: facts.st_uid))",
        "Run ferry doctor and ferryd as that user.")
    } else {
      ok(subject, "\(path) belongs to this user alone")
    }
    if let kind = MachineChecks.networkFileSystem(path) {
      note(
        .problem, subject, "\(path) is on a network file system (\(kind))",
        "Use a local disk: SQLite needs its locks. To share a store, use store = postgres:….")
    }
    space(path)
  }

  private mutating func space(_ path: String) {
    var facts = statvfs()
    guard statvfs(path, &facts) == 0 else { return }
    let free = UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
    let text = "\(free >> 20) MB are free"
    let cure = "Delete what is not needed, or move the data folder to a larger disk."
    if free < MachineChecks.leastFreeBytes {
      note(.problem, "disk", text, cure)
    } else if free < MachineChecks.goodFreeBytes {
      note(.warning, "disk", text, cure)
    } else if facts.f_files > 0, facts.f_favail < 1_000 {
      note(.problem, "disk", "only \(facts.f_favail) more files can be created", cure)
    } else {
      ok("disk", text)
    }
  }

  mutating func memory() {
    guard let text = try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("MemAvailable:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return }
    let megabytes = kilobytes >> 10
    guard megabytes < 256 else {
      ok("memory", "\(megabytes) MB are available")
      return
    }
    note(
      .warning, "memory", "only \(megabytes) MB are available",
      "End other programs, or give the machine more memory.")
  }

  /// Each connection needs one file, and the stores some more.
  mutating func openFiles(connections: Int) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    let needed = connections + 512
    guard limit.rlim_max < rlim_t(needed) else {
      ok("open files", "this user may have \(limit.rlim_max) of \(needed) needed")
      return
    }
    note(
      .problem, "open files",
      "this user may have \(limit.rlim_max) open files, and \(connections) connections need \(needed)",
      "Write LimitNOFILE=\(needed * 2) into the unit of ferryd, or lower connections.")
  }

  /// As systemd says it; nothing where there is no systemd.
  mutating func clock() {
    guard
      let answer = MachineChecks.output(
        "/usr/bin/timedatectl", ["show", "--property=NTPSynchronized", "--value"]),
      answer.code == 0
    else { return }
    if answer.text.hasPrefix("yes") {
      ok("clock", "the clock is set by a time server")
    } else {
      note(
        .warning, "clock", "the clock is not set by a time server",
        "Install systemd-timesyncd or chrony: tokens and certificates depend on the time.")
    }
  }

  mutating func port(_ address: String, _ text: String, data: String) {
    guard let port = UInt16(text) else {
      note(.problem, "port", "\(text) is not a port number", "Write a number from 0 to 65535.")
      return
    }
    guard port > 0 else { return }
    if port < 1_024, geteuid() != 0 {
      note(
        .warning, "port", "port \(port) needs a right that this user may not have",
        "Write AmbientCapabilities=CAP_NET_BIND_SERVICE into the unit, or use a port from 1024.")
      return
    }
    let descriptor = socket(
      address.contains(":") ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var yes: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
    guard MachineChecks.bind(descriptor, address, port) != 0 else {
      ok("port", "port \(port) of \(address) is free")
      return
    }
    guard errno == EADDRINUSE else {
      note(
        .problem, "port", "\(address):\(port) cannot be used: \(String(cString: strerror(errno)))",
        "Write an address of this machine (address).")
      return
    }
    // The server that runs on this folder has its socket there.
    if access("\(data)/\(Folder.socketName)", F_OK) == 0 {
      ok("port", "port \(port) is used; a ferryd has this data folder")
    } else {
      note(
        .problem, "port", "port \(port) of \(address) is used by another program",
        "End that program (ss -ltnp names it), or write another port.")
    }
  }

  private static func bind(_ descriptor: CInt, _ address: String, _ port: UInt16) -> CInt {
    if address.contains(":") {
      var name = sockaddr_in6()
      name.sin6_family = sa_family_t(AF_INET6)
      name.sin6_port = port.bigEndian
      inet_pton(AF_INET6, address, &name.sin6_addr)
      let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
      return withUnsafePointer(to: &name) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, size) }
      }
    }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    inet_pton(AF_INET, address, &name.sin_addr)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, size) }
    }
  }

  /// Whether what devices send is protected on the way.
  mutating func door(address: String, certificate: String?, proxies: [String]) {
    guard let certificate else {
      let isLocal = ["127.0.0.1", "::1", "localhost"].contains(address)
      if isLocal {
        ok("TLS", "only this machine reaches ferryd; a proxy in front of it has the certificate")
      } else if proxies.isEmpty {
        note(
          .warning, "TLS", "ferryd listens on \(address) without TLS, and no proxy is named",
          "Write certificate and key, or let a proxy do TLS and name it (proxy).")
      }
      return
    }
    guard let bytes = FileManager.default.contents(atPath: certificate),
      let first = try? X509Certificate.all(pem: String(decoding: bytes, as: UTF8.self)).first
    else {
      note(
        .problem, "TLS", "the certificate \(certificate) cannot be read",
        "Name a PEM file that the user of ferryd may read (certificate).")
      return
    }
    let days = (first.notAfterSeconds - Int64(Date().timeIntervalSince1970)) / 86_400
    if days < 0 {
      note(
        .problem, "TLS", "the certificate \(certificate) has ended",
        "Renew it, then: systemctl reload ferryd.")
    } else if days < 21 {
      note(
        .warning, "TLS", "the certificate \(certificate) ends in \(days) days",
        "Renew it, then: systemctl reload ferryd.")
    } else {
      ok("TLS", "the certificate ends in \(days) days")
    }
  }

  /// ferryd itself reads its settings, models and databases.
  mutating func settings(_ path: String, program: String?) {
    guard let program else {
      note(
        .warning, "settings", "the program ferryd was not found, so the settings were not checked",
        "Name it (--ferryd FILE).")
      return
    }
    guard let answer = MachineChecks.output(program, ["--configuration", path, "--check"]) else {
      note(.problem, "settings", "\(program) cannot be started", "Install ferryd again.")
      return
    }
    let lines = answer.text.split(separator: "\n").map(String.init)
    if answer.code == 0 {
      ok("settings", lines.last ?? "")
    } else {
      note(
        .problem, "settings", lines.joined(separator: " "),
        "Correct \(path), and run ferry doctor again.")
    }
  }

  /// What a program printed, and its exit code; nil where it cannot be started.
  private static func output(_ program: String, _ words: [String]) -> (code: Int32, text: String)? {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = words
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    guard (try? process.run()) != nil else { return nil }
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
  }

  /// Beside this program, or where the system looks for programs.
  static func ferryd() -> String? {
    var folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map(String.init)
    folders += ["/usr/sbin", "/usr/local/sbin"]
    if let own = Bundle.main.executableURL?.deletingLastPathComponent().path {
      folders.insert(own, at: 0)
    }
    return folders.map { "\($0)/ferryd" }.first { access($0, X_OK) == 0 }
  }

  private static func name(of user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "user \(user)"
  }

  /// The kind of the file system, where other machines may write to it too.
  private static func networkFileSystem(_ path: String) -> String? {
    guard let found = realpath(path, nil),
      let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)
    else { return nil }
    defer { free(found) }
    let place = String(cString: found)
    var best = (length: -1, kind: "")
    for line in mounts.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count > 2 else { continue }
      let root = String(parts[1])
      let isAbove = root == "/" || place == root || place.hasPrefix(root + "/")
      if isAbove, root.utf8.count >= best.length {
        best = (root.utf8.count, String(parts[2]))
      }
    }
    let shared = ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "fuse.sshfs", "fuse.glusterfs"]
    return shared.contains(best.kind) ? best.kind : nil
  }
}
