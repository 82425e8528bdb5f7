import Foundation

/// One connection to a server on this machine that is kept open, with no care but for speed: what
/// the load of the measures is made with.
final class Line {
  private let socket: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 20)

  private var knownHead = 0
  private var knownLength: Int?

  struct Reply {
    let status: Int
    /// In small letters.
    let head: String
    let body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  init(port: Int) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw Trouble("nothing listens on port \(port)") }
    var on: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(socket) }

  func ask(_ request: [UInt8]) throws -> Reply {
    try send(request)
    return try receive()
  }

  func send(_ request: [UInt8]) throws {
    var done = 0
    while done < request.count {
      let count = request.withUnsafeBytes {
        Glibc.send(
          socket, $0.baseAddress! + done, request.count - done, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Trouble("the server closed the line") }
      done += count
    }
  }

  /// Reads one whole answer and gives only its status; as little work as can be.
  func drain() throws -> Int {
    var count = try read(into: 0)
    while true {
      if let end = Line.headEnd(buffer, count), isWhole(end, count) { break }
      count += try read(into: count)
    }
    return status
  }

  func receive() throws -> Reply {
    var bytes: [UInt8] = []
    var head: Int?
    while true {
      let count = try read(into: 0)
      bytes += buffer[..<count]
      if head == nil { head = Line.headEnd(bytes, bytes.count) }
      guard let head else { continue }
      let text = String(decoding: bytes[..<head], as: UTF8.self).lowercased()
      let status = Int(text.dropFirst(9).prefix(3)) ?? 0
      if let place = text.range(of: "content-length:") {
        let length =
          Int(
            text[place.upperBound...].prefix { $0 != "\r" }.trimmingCharacters(in: .whitespaces))
          ?? 0
        if bytes.count >= head + length {
          return Reply(status: status, head: text, body: Array(bytes[head...]))
        }
      } else if let body = try Line.chunks(bytes, from: head) {
        return Reply(status: status, head: text, body: body)
      }
    }
  }

  private var status: Int {
    Int(buffer[9] - 48) * 100 + Int(buffer[10] - 48) * 10 + Int(buffer[11] - 48)
  }

  private func read(into place: Int) throws -> Int {
    let room = buffer.count - place
    let count = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress! + place, room, 0) }
    guard count > 0 else { throw Trouble("the server closed the line") }
    return count
  }

  /// Chunked answers end with an empty chunk; those without a body with their head; others tell
  /// their length, which is looked for once in a series of equal answers.
  private func isWhole(_ head: Int, _ count: Int) -> Bool {
    if count == head { return status == 304 || status == 204 }
    if knownHead != head {
      let text = String(decoding: buffer[..<head], as: UTF8.self).lowercased()
      let tail = text.range(of: "content-length: ").map { text[$0.upperBound...] }
      knownLength = tail.flatMap { Int($0.prefix { $0.isNumber }) }
      knownHead = head
    }
    if let knownLength { return count >= head + knownLength }
    return count >= 5 && buffer[count - 5] == 48 && buffer[count - 1] == 10
      && buffer[count - 4] == 13 && buffer[count - 2] == 13
  }

  private static func headEnd(_ bytes: [UInt8], _ count: Int) -> Int? {
    guard count >= 4 else { return nil }
    return (3..<count).first {
      bytes[$0] == 10 && bytes[$0 - 1] == 13 && bytes[$0 - 2] == 10 && bytes[$0 - 3] == 13
    }.map { $0 + 1 }
  }

  /// The body of a chunked answer; nil until it is whole.
  private static func chunks(_ bytes: [UInt8], from start: Int) throws -> [UInt8]? {
    var body: [UInt8] = []
    var place = start
    while true {
      guard let end = bytes[place...].firstIndex(of: 13), end + 1 < bytes.count else { return nil }
      guard let size = Int(String(decoding: bytes[place..<end], as: UTF8.self), radix: 16) else {
        throw Trouble("the answer has a chunk that cannot be read")
      }
      guard bytes.count >= end + 2 + size + 2 else { return nil }
      if size == 0 { return body }
      body += bytes[(end + 2)..<(end + 2 + size)]
      place = end + 4 + size
    }
  }
}

/// Requests as bytes.
enum HTTPText {
  static func get(_ path: String, headers: String = "") -> [UInt8] {
    Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n".utf8)
  }

  static func post(_ path: String, _ body: [UInt8], token: String? = nil) -> [UInt8] {
    let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    let head =
      "POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(authorization)"
      + "Content-Length: \(body.count)\r\n\r\n"
    return Array(head.utf8) + body
  }
}
