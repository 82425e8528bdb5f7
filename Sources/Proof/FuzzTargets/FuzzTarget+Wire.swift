import FerryCrypto
import FerryHTTP
import FerryJSON
import FerryModel
import FerryServer
import FerryText
import FerryWire
import FerryWorld

extension FuzzTarget {
  /// The envelopes of messages, as they come over the network.
  static let frames = FuzzTarget(
    "frames",
    afterHeader: { bytes in
      guard bytes.count > Frame.headerBytes else { return nil }
      let length = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
      guard length == bytes.count - Frame.headerBytes, Frame.Kind(rawValue: bytes[4]) != nil,
        bytes[5] == 0
      else { return nil }
      return Array(bytes[Frame.headerBytes...])
    },
    run: { bytes in
      let whole = Result { try FrameReader.frames(of: bytes) }
      let cut = Result { () throws -> [Frame] in
        var reader = FrameReader()
        var frames: [Frame] = []
        for piece in pieces(bytes) {
          reader.append(piece)
          while let frame = try reader.next() { frames.append(frame) }
        }
        try reader.finish()
        return frames
      }
      guard let frames = try? whole.get() else {
        return (try? cut.get()) == nil ? nil : "in pieces it is read, whole it is refused"
      }
      guard (try? cut.get()) == frames else { return "in pieces it is read otherwise" }
      let written = frames.flatMap { $0.encoded() }
      return (try? FrameReader.frames(of: written)) == frames ? nil : "written it is read otherwise"
    })

  /// The content of a message: a byte that tells the kind, then JSON.
  static let messages = FuzzTarget(
    "messages",
    afterHeader: { bytes in
      guard let first = bytes.first, Frame.Kind(rawValue: first) != nil else { return nil }
      return afterFirstMember(Array(bytes.dropFirst()))
    },
    run: { bytes in
      let content = Array(bytes.dropFirst())
      if let operation = try? Operation(content, in: business) {
        guard let entity = business.entity(named: operation.entity) else {
          return "an operation on an entity that the model does not have"
        }
        let again = try? Operation(operation.encoded(for: entity), in: business)
        if again != operation { return "an operation written is read otherwise" }
      }
      guard let kind = bytes.first.flatMap(Frame.Kind.init),
        let message = try? Message(Frame(kind, content))
      else { return nil }
      if case .rows(let page) = message {
        try? page.read(
          of: business, wrap: { $0 }, row: { _, _, _ throws(JSONError) in },
          left: { _, _ throws(JSONError) in })
      }
      guard let again = try? Message(message.frame) else { return "written it is refused" }
      return again.frame == message.frame ? nil : "written it is read otherwise"
    })

  /// Access tokens: the bytes as a token, and as the content of one that the server signed.
  static let tokens = FuzzTarget(
    "tokens",
    afterHeader: { bytes in
      let head = Array("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.".utf8)
      return bytes.starts(with: head) ? Array(bytes[head.count...]) : nil
    },
    run: { bytes in
      let key = [UInt8](repeating: 7, count: 32)
      let judge = AccessTokens(key: key, server: "server")
      let now = Timestamp(milliseconds: 0)
      if (try? judge.verify(String(decoding: bytes, as: UTF8.self), now: now)) != nil {
        return "a token that nobody signed is taken"
      }
      let text =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + Base64.encode(bytes, .url)
      let seal = SHA256Digest.authenticate(Array(text.utf8), key: key)
      let signed = "\(text).\(Base64.encode(seal, .url))"
      let identity = try? judge.verify(signed, now: now)
      if let identity, identity.expires <= now {
        return "a token whose time is over is taken"
      }
      return nil
    })

  /// Models, which `ferry` and the build plugin read from a file.
  static let model = FuzzTarget(
    "model", afterHeader: afterFirstMember,
    run: { bytes in
      let reading = ModelReader.read(bytes, file: "model.json")
      guard let package = reading.package else {
        return reading.errors.isEmpty ? "no model and no error" : nil
      }
      if !reading.errors.isEmpty { return "a model and an error" }
      let again = ModelReader.read(Array(ModelWriter.text(of: package).utf8), file: "again.json")
      guard again.errors.isEmpty else { return "written it is refused: \(again.errors)" }
      return again.package == package ? nil : "written it is read otherwise"
    })

  /// Requests as the server's handlers see them: path, query, token and JSON bodies.
  static let http = FuzzTarget(
    "http",
    afterHeader: { bytes in
      guard let request = request(bytes), request.method == .post,
        request.pathSegments?.first == "ferry", let end = bytes.firstIndex(of: 0x0A)
      else { return nil }
      return Array(bytes[(end + 1)...])
    },
    run: { bytes in
      guard let request = request(bytes) else { return nil }
      if let segments = request.pathSegments,
        segments.contains(where: { $0.isEmpty || $0 == ".." || $0.contains("/") })
      {
        return "a segment leads elsewhere: \(segments)"
      }
      _ = request.queryValue("name")
      if let token = request.bearerToken, token.isEmpty || token.contains(" ") {
        return "a token that is none"
      }
      if let login = LoginRequest(request.body) {
        let again = LoginRequest(
          written(
            [("user", login.user), ("password", login.password), ("device", login.device)]
              + (login.key.map { [("key", Base64.encode($0))] } ?? [])))
        if again != login || login.device.isEmpty { return "a login written is read otherwise" }
      }
      if let renewal = RenewalRequest(request.body) {
        let again = RenewalRequest(
          written(
            [("refreshToken", renewal.refreshToken), ("device", renewal.device)]
              + (renewal.proof.map {
                [("key", Base64.encode($0.key)), ("proof", Base64.encode($0.signature))]
              } ?? [])))
        if again != renewal { return "a renewal written is read otherwise" }
      }
      if let answer = LoginAnswer(request.body), LoginAnswer(answer.encoded()) != answer {
        return "the answer to a login written is read otherwise"
      }
      return nil
    })

  private static func written(_ members: [(String, String)]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in members { writer.field(name, value) }
    writer.endObject()
    return writer.bytes
  }

  /// A request in lines: method, address, the value of Authorization, then the body.
  private static func request(_ bytes: [UInt8]) -> HTTPRequest? {
    let lines = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3, let first = String(validating: lines[0], as: UTF8.self),
      let token = String(validating: lines[1], as: UTF8.self)
    else { return nil }
    let words = first.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[1].hasPrefix("/") else { return nil }
    let sides = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return HTTPRequest(
      method: HTTPMethod(rawValue: String(words[0])), path: String(sides[0]),
      query: sides.count == 2 ? String(sides[1]) : nil, headers: ["Authorization": token],
      body: Array(lines[2]))
  }

  /// The model that operations and pages are read with; it has an attribute of every simple type.
  static let business: Package = {
    let simple: [AttributeType] = [
      .boolean, .byte, .short, .int, .long, .integer, .decimal, .float, .double, .string, .date,
      .time, .dateTime, .binary,
    ]
    let attributes = simple.enumerated().map { number, type in
      #"{"name":"a\#(number)","type":"\#(type.rawValue)"}"#
    }
    let text = #"""
      {"name":"Fuzz","version":"1.0","groups":["default"],"entities":[{"name":"Thing",
      "group":"default","attributes":[{"name":"number","type":"long"},\#(attributes.joined(separator: ","))],
      "key":["number"],"keyOrigin":"app","operations":["create","update","delete"]}]}
      """#
    let reading = ModelReader.read(Array(text.utf8), file: "business.json")
    guard let package = reading.package else {
      preconditionFailure("the model of the targets is none: \(reading.problems)")
    }
    return package
  }()
}
