import FerryArguments
import FerryHTTPServer
import FerryIssuers
import FerryProxy
import FerryServer
import FerryWorld
import Foundation
import Synchronization

/// Certificate and key of a server, as files that are read again while it runs.
struct IdentityFiles: Sendable {
  private let certificate: String
  private let key: String

  /// Nil where the command line names none.
  init?(_ arguments: Arguments) throws {
    let certificate = try arguments.value("certificate")
    let key = try arguments.value("key")
    guard certificate != nil || key != nil else { return nil }
    guard let certificate, let key else {
      throw UsageError(
        "--certificate and --key belong together", hint: "Name both files, or none.")
    }
    self.certificate = certificate
    self.key = key
  }

  /// `clients`: whose certificates callers are asked for.
  func read(_ clients: ClientAuthorities?) throws -> TLSIdentity {
    TLSIdentity(
      certificates: try text(certificate), key: try text(key), clientAuthorities: clients?.pem)
  }

  private func text(_ path: String) throws -> String {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw StartFailure(
        "the file \(path) cannot be read", hint: "Name a file that exists and is readable.")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// What SIGHUP makes a running server do: a new access log, and services, certificates and revocation
/// lists as their files are now. What cannot be read is logged, and that of before stays.
struct HangUpSignal: Sendable {
  let server: HTTPServer
  let identity: IdentityFiles?
  /// Nil where no other service is reached through this server.
  let gateway: ServedGateway?
  /// Policies of the packages; nil where there are no packages.
  let policies: PolicyBoard?
  let log: any Log

  /// From now on, for as long as the process lives.
  func install() {
    // A server without certificates and gateway has no thread for it: `follow` looks at what was heard.
    // Whoever started such a server on a terminal ends it by closing the terminal.
    guard identity != nil || gateway != nil else {
      if isatty(STDIN_FILENO) == 0 {
        signal(SIGHUP) { _ in HangUpSignal.isHeard.store(true, ordering: .relaxed) }
      }
      return
    }
    signal(SIGHUP, SIG_IGN)
    let queue = DispatchQueue(label: "ferry-hangup")
    let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: queue)
    source.setEventHandler { perform() }
    source.resume()
    // It ends with the process.
    _ = Unmanaged.passRetained(source as AnyObject)
  }

  private static let isHeard = Atomic<Bool>(false)

  /// Reads the files again after each signal that no thread of its own has heard. Never ends.
  func follow(wait: () async -> Void) async {
    while true {
      await wait()
      if HangUpSignal.isHeard.exchange(false, ordering: .relaxed) { perform() }
    }
  }

  private func perform() {
    attempt("the access log") { try gateway?.access.reopen() }
    attempt("the gateway file") {
      guard let gateway else { return }
      try gateway.gateway.change(to: try gateway.setup.read())
    }
    attempt("the authorities of clients") { try gateway?.setup.clients?.reload() }
    attempt("the certificate") {
      guard let identity else { return }
      try server.change(to: try identity.read(gateway?.setup.clients))
    }
    attempt("the policies of cache groups") { try policies?.reload() }
    log.info("files were read again")
  }

  private func attempt(_ what: String, _ body: () throws -> Void) {
    do { try body() } catch {
      log.error(
        "a file cannot be read again; what was read before stays", ("what", what),
        ("reason", "\(error)"))
    }
  }
}
