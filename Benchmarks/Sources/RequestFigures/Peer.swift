import Glibc

/// A server on this machine for measures: threads, blocking sockets, and no line of ours between.
final class Peer: Sendable {
  let port: Int
  private let listener: CInt
  private let pages: [[UInt8]]
  private let metadata: [UInt8]
  static let streamBytes = 1 << 30

  var root: String { "http://127.0.0.1:\(port)/" }

  init(pages: [[UInt8]], metadata: [UInt8]) {
    self.pages = pages
    self.metadata = metadata
    listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let own = listener
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(own, $0, length)
        _ = listen(own, 128)
        _ = getsockname(own, $0, &length)
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    Self.thread { [self] in
      while case let line = accept(listener, nil, nil), line >= 0 {
        var on: CInt = 1
        setsockopt(line, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        Self.thread { [self] in
          serve(line)
          close(line)
        }
      }
    }
  }

  private func serve(_ line: CInt) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var held = 0
    while true {
      var end: Int?
      while end == nil {
        let got = buffer.withUnsafeMutableBytes {
          recv(line, $0.baseAddress?.advanced(by: held), $0.count - held, 0)
        }
        if got <= 0 { return }
        held += got
        end = buffer[..<held].firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
      }
      guard let end else { return }
      let head = String(decoding: buffer[..<end], as: UTF8.self)
      let target = head.split(separator: " ")[1]
      let length =
        head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length:") }
        .flatMap { Int($0.dropFirst(15).filter(\.isNumber)) } ?? 0
      if head.contains("100-continue") { send(line, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
      var left = length - (held - end)
      held = 0
      while left > 0 {
        let got = recv(line, &buffer, min(left, buffer.count), 0)
        if got <= 0 { return }
        left -= got
      }
      switch target {
      case "/":
        answer(line, Array(#"{"value":[{"name":"Items","kind":"EntitySet","url":"Items"}]}"#.utf8))
      case "/$metadata": answer(line, metadata, "application/xml")
      case "/stream":
        send(line, Array("HTTP/1.1 200 OK\r\nContent-Length: \(Self.streamBytes)\r\n\r\n".utf8))
        for _ in 0..<(Self.streamBytes / buffer.count) where !send(line, buffer) { return }
      case "/slow":
        usleep(5_000)
        answer(line, Array(#"{"id":1,"name":"an item"}"#.utf8))
      case "/small": answer(line, Array(repeating: 0x78, count: 1_024), "text/plain")
      default:
        let number = target.split(separator: "=").last.flatMap { Int($0) } ?? 0
        answer(line, pages.isEmpty ? [] : pages[min(number, pages.count - 1)])
      }
    }
  }

  private func answer(_ line: CInt, _ body: [UInt8], _ type: String = "application/json") {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"
    send(line, Array(head.utf8) + body)
  }

  @discardableResult
  private func send(_ line: CInt, _ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(line, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  private final class Work {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  private static func thread(_ run: @escaping () -> Void) {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(Work(run)).toOpaque())
    pthread_detach(thread)
  }
}
