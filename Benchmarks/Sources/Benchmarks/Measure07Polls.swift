import Foundation

extension Measure {
  /// Devices that ask and hear that there is nothing new.
  static let polls = Measure(number: 7, name: "delta poll with nothing new") { setting in
    let server = try await setting.servers.server(items: setting.n(10_000, quick: 500), setting)
    let device = try WireDevice(server, name: "poller")
    while try !device.exchange(device.request()).messages.contains(where: { message in
      if case .checkpoint = message { true } else { false }
    }) {}
    let poll = device.request()
    let count = setting.n(20_000, quick: 200)
    let nginx = try? Nginx(setting)
    if nginx == nil { setting.say("nginx is not here: no limit beside the polls") }
    var ours: [Double] = []
    var perProcessor: [Double] = []
    var theirs: [Double] = []
    var waits: [Double] = []
    for _ in setting.eachRound() {
      let before = server.child.processorSeconds
      ours.append(Double(count) / (try load(poll, server.port, count, expects: 200)))
      perProcessor.append(Double(count) / (server.child.processorSeconds - before))
      waits += try single(poll, server.port, setting.n(1_000, quick: 20))
      if let nginx {
        theirs.append(Double(count) / (try load(nginx.request(), nginx.port, count, expects: 304)))
      }
    }
    let limit = theirs.isEmpty ? nil : median(theirs)
    return [
      Figure(
        7, "delta poll with nothing new", n: count, unit: "polls/s", ours: median(ours),
        limit: limit, of: limit == nil ? "" : "nginx 304", aim: .atLeast(10_000),
        peakMegabytes: server.child.peakMegabytes),
      Figure(
        7, "delta poll, each second of the server's processors", n: count, unit: "polls",
        ours: median(perProcessor)),
      Figure(
        7, "delta poll, one device alone", n: waits.count, unit: "ms", ours: median(waits),
        p99: percentile99(waits)),
    ]
  }

  /// Seconds for `count` requests over 32 lines that are kept open.
  static func load(
    _ request: [UInt8], _ port: Int, _ count: Int, expects status: Int
  ) throws -> Double {
    let lines = try (0..<32).map { _ in try Line(port: port) }
    return try seconds {
      var open = 0
      var sent = 0
      for line in lines where sent < count {
        try line.send(request)
        sent += 1
        open += 1
      }
      var next = 0
      while open > 0 {
        let line = lines[next % lines.count]
        guard try line.drain() == status else { throw Trouble("an answer is not \(status)") }
        open -= 1
        if sent < count {
          try line.send(request)
          sent += 1
          open += 1
        }
        next += 1
      }
    }
  }

  private static func single(_ request: [UInt8], _ port: Int, _ count: Int) throws -> [Double] {
    let line = try Line(port: port)
    return try (0..<count).map { _ in
      1_000 * (try seconds { _ = try line.ask(request) })
    }
  }
}

/// nginx with one small file, on a port of its own.
private final class Nginx {
  let port: Int
  private let child: Child

  init(_ setting: Setting) throws {
    let folder = setting.folder.appending(path: "nginx")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(repeating: 65, count: 100).write(to: folder.appending(path: "file"))
    let programs = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"]
    guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
      throw Trouble("no nginx")
    }
    port = try Nginx.freePort()
    let text = """
      daemon off; worker_processes 1; pid \(folder.path)/pid; error_log \(folder.path)/errors;
      events { worker_connections 256; }
      http { access_log off; keepalive_requests 100000000; client_body_temp_path \(folder.path);
        proxy_temp_path \(folder.path); fastcgi_temp_path \(folder.path);
        uwsgi_temp_path \(folder.path); scgi_temp_path \(folder.path);
        server { listen 127.0.0.1:\(port); root \(folder.path); } }
      """
    let file = folder.appending(path: "nginx.conf")
    try Data(text.utf8).write(to: file)
    child = try Child(program, ["-c", file.path])
    for _ in 0..<100 {
      if (try? Line(port: port)) != nil { return }
      usleep(20_000)
    }
    throw Trouble("nginx does not listen")
  }

  deinit { child.end(orderly: true) }

  func request() throws -> [UInt8] {
    let reply = try Line(port: port).ask(HTTPText.get("/file"))
    guard reply.status == 200, let tag = reply.head.range(of: "etag: ") else {
      throw Trouble("nginx gives no tag: \(reply.status)")
    }
    let value = reply.head[tag.upperBound...].prefix { $0 != "\r" && $0 != "\r\n" }
    return HTTPText.get("/file", headers: "If-None-Match: \(value)\r\n")
  }

  private static func freePort() throws -> Int {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
        bind(socket, plain, length) == 0 ? getsockname(socket, plain, &length) : -1
      }
    }
    guard code == 0 else { throw Trouble("no free port") }
    return Int(in_port_t(bigEndian: address.sin_port))
  }
}
