import FerryModel
import FerryWire
import Foundation

/// A device without a database: it speaks the wire and remembers where it stands.
final class WireDevice {
  let name: String
  private var line: Line
  private let port: Int
  let token: String
  private var server: String?
  private var era: String?
  private var version: Int64 = 0
  private var cursors: [PartitionCursor] = []
  /// Answers that were taken and not confirmed.
  private(set) var answers: [Answer] = []

  init(_ server: Server, name: String, user: String = "anna") throws {
    self.name = name
    port = server.port
    line = try Line(port: port)
    let login = #"{"user": "\#(user)", "password": "\#(Server.password)", "device": "\#(name)"}"#
    let reply = try line.ask(HTTPText.post("/ferry/1/login", Array(login.utf8)))
    guard let node = try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any],
      let token = node["accessToken"] as? String
    else { throw Trouble("no token: \(reply.text)") }
    self.token = token
  }

  /// The bytes of a request from where the device stands.
  func request(
    replay operations: [[UInt8]] = [], open: [OperationID] = [], pulls: Bool = true,
    confirms: Bool = false, after frames: [UInt8] = [], path: String = "exchange"
  ) -> [UInt8] {
    let hello = Hello(
      server: server, package: Item.package.id, device: name, incarnation: "1",
      groups: [GroupPosition(name: "default", era: era, version: version)], partitions: cursors,
      open: open)
    var body = Message.hello(hello).frame.encoded()
    if confirms, !answers.isEmpty {
      let confirm = Confirm(group: "default", version: version, answers: answers.map(\.id))
      body += Message.confirm(confirm).frame.encoded()
    }
    if !operations.isEmpty {
      body += Message.replay(Replay(operations: operations)).frame.encoded()
    }
    if pulls {
      body += Message.pull(Pull(group: "default", staged: cursors, at: version)).frame.encoded()
    }
    return HTTPText.post("/ferry/1/\(path)", body + frames, token: token)
  }

  /// Asks, and takes whatever comes: the status of the answer; 0 where the line was closed.
  func exchangeAnyhow(_ request: [UInt8]) throws -> Int {
    do { return try ask(request).status } catch { return 0 }
  }

  /// Where the server closed the line, the next request gets a new one.
  private func ask(_ request: [UInt8]) throws -> Line.Reply {
    do { return try line.ask(request) } catch {
      line = try Line(port: port)
      throw error
    }
  }

  /// Asks, and takes what a checkpoint says. Gives the messages and the bytes they had.
  @discardableResult
  func exchange(_ request: [UInt8]) throws -> (messages: [Message], bytes: Int) {
    let reply = try ask(request)
    guard reply.status == 200 else { throw Trouble("\(reply.status): \(reply.text)") }
    let messages = try FrameReader.frames(of: reply.body).map { try Message($0) }
    for message in messages {
      switch message {
      case .welcome(let welcome): server = welcome.server
      case .checkpoint(let checkpoint):
        era = checkpoint.era
        version = checkpoint.version
        cursors = checkpoint.partitions.map {
          PartitionCursor(partition: $0.partition, cursor: .end(of: checkpoint.version))
        }
        answers = checkpoint.answers
      case .failure(let failure): throw Trouble("\(failure.message) \(failure.hint)")
      default: break
      }
    }
    return (messages, reply.body.count)
  }
}
