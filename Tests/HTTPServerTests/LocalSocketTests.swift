import FerryHTTP
import FerryHTTPClient
import FerryTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

@testable import FerryHTTPServer

@Suite("A server's Unix socket", .apart)
struct LocalSocketTests {
  /// A folder whose path no address of a socket can hold.
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    let folder = root.appending(path: String(repeating: "long", count: 40)).path
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: root) }
    try await body(folder)
  }

  private func listen(_ live: LiveServer, _ folder: String) async -> HTTPServerError? {
    await Task(executorPreference: live.server.executor) { () -> HTTPServerError? in
      do throws(HTTPServerError) {
        try live.server.listenLocally(in: folder, as: "a.socket")
        return nil
      } catch { return error }
    }.value
  }

  private func ask(_ url: String, _ folder: String?) async throws -> String {
    var options = TransportOptions()
    let descriptor = folder.map { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    defer { if let descriptor { close(descriptor) } }
    options.socketPath = descriptor.map { "/proc/self/fd/\($0)/a.socket" }
    let response = try await SystemTransport.make(options).send(TransportRequest(url: url))
    return String(decoding: try await response.body.collect(), as: UTF8.self)
  }

  private func server(
    _ limits: HTTPServerLimits = HTTPServerLimits()
  ) throws -> LiveServer {
    try LiveServer(limits: limits) { request in
      .text(200, "\(request.path) \(request.peerUser.map { "uid \($0)" } ?? "network")")
    }
  }

  @Test("It says whose process asks, beside the port, and goes away with the server")
  func asks() async throws {
    try await withFolder { folder in
      let live = try server()
      #expect(await listen(live, folder) == nil)
      var facts = stat()
      #expect(stat("\(folder)/a.socket", &facts) == 0 && facts.st_mode & 0o777 == 0o600)
      for _ in 1...3 {
        #expect(try await ask("http://localhost/x", folder) == "/x uid \(geteuid())")
        #expect(try await ask("\(live.url)/y", nil) == "/y network")
      }
      #expect(live.stop())
      #expect(access("\(folder)/a.socket", F_OK) != 0)
      await #expect(throws: TransportError.self) { try await ask("http://localhost/x", folder) }
    }
  }

  @Test("It takes the place of one that a killed server left, and not of one that answers")
  func replaced() async throws {
    try await withFolder { folder in
      // Bound and closed without its name being removed: as a kill leaves it.
      let left = try LocalSocket(in: folder, named: "a.socket")
      Glibc.close(left.listener)
      #expect(access("\(folder)/a.socket", F_OK) == 0)
      let (first, second) = (try server(), try server())
      #expect(await listen(first, folder) == nil)
      #expect(await listen(second, folder)?.code == .portInUse)
      #expect(try await ask("http://localhost/x", folder) == "/x uid \(geteuid())")
      #expect(first.stop() && second.stop())
    }
  }

  @Test("Beside it each address of the network still has its share of connections")
  func share() async throws {
    try await withFolder { folder in
      var limits = HTTPServerLimits()
      limits.connectionsPerAddress = 2
      let live = try server(limits)
      #expect(await listen(live, folder) == nil)
      let clients = (0..<2).map { _ in RawClient(live.port) }
      for client in clients {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.receive(until: "network").contains(" 200 "))
      }
      #expect(RawClient(live.port).receiveAll().contains(" 429 "))
      #expect(try await ask("http://localhost/x", folder) == "/x uid \(geteuid())")
      #expect(live.stop())
    }
  }

  @Test("Where no descriptor is left the loop does not wake for it, and serves once there is one")
  func noDescriptors() async throws {
    try await withFolder { folder in
      let live = try server()
      let isOut = Mutex(true)
      let listener = await Task(executorPreference: live.server.executor) { () -> CInt? in
        guard let local = try? LocalSocket(in: folder, named: "a.socket") else { return nil }
        local.acceptNext = { listener in
          guard isOut.withLock({ $0 }) else { return Glibc.accept(listener, nil, nil) }
          errno = EMFILE
          return -1
        }
        live.server.listen(on: local)
        return local.listener
      }.value
      let socket = try #require(listener)
      async let answer = ask("http://localhost/x", folder)
      // On the loop's own thread: what it would find if it waited now, with the client at the door.
      let patience = Patience()
      var found: Bool?
      while found == nil, await patience.lasts() {
        found = await Task(executorPreference: live.server.executor) { () -> Bool? in
          guard live.server.engine.localPause != nil else { return nil }
          return live.server.loop.wait(milliseconds: 0).contains(socket)
        }.value
      }
      #expect(found == false)
      isOut.withLock { $0 = false }
      #expect(try await answer == "/x uid \(geteuid())")
      #expect(try await ask("http://localhost/y", folder) == "/y uid \(geteuid())")
      #expect(live.stop())
    }
  }

  @Test("A folder that others may enter gets none")
  func open() async throws {
    try await withFolder { folder in
      let live = try server()
      for mode in [0o755, 0o710, 0o701] as [mode_t] {
        #expect(chmod(folder, mode) == 0)
        #expect(await listen(live, folder)?.code == .notPermitted)
        #expect(access("\(folder)/a.socket", F_OK) != 0)
      }
      #expect(live.stop())
    }
  }

  @Test("A process of another user is not served, even if it may reach the socket")
  func otherUser() async throws {
    guard geteuid() == 0 else {
      print("way: NOT SHOWN (otherUser): only root can play another user")
      return
    }
    try await withFolder { folder in
      let live = try server()
      #expect(await listen(live, folder) == nil)
      // As an administrator may do by mistake.
      chmod(folder, 0o755)
      chmod((folder as NSString).deletingLastPathComponent, 0o755)
      chmod("\(folder)/a.socket", 0o666)
      let code = """
        import os, socket
        f = os.open('\(folder)', os.O_RDONLY)
        s = socket.socket(socket.AF_UNIX); s.connect('/proc/self/fd/%d/a.socket' % f)
        try:
          s.sendall(b'GET /x HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n')
          print('connected', s.recv(999))
        except OSError as e: print('connected', e)
        """
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/setpriv")
      process.arguments = [
        "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", code,
      ]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let said = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(said.hasPrefix("connected") && !said.contains("uid"), "\(said)")
      #expect(try await ask("http://localhost/x", folder).contains("uid"))
      #expect(live.stop())
    }
  }
}
