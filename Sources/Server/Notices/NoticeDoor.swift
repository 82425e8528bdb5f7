import FerryHTTP
import FerryJSON
import FerryModel
import FerrySQLite
import FerryServer
import FerryWorld

/// Where other programs say what they changed in the business system: `POST /notices/<package>`.
package final class NoticeDoor: Sendable {
  package static let path: String = "/notices/"

  private let find: @Sendable (String) -> [NoticeDesk]
  let senders: NoticeSenders
  private let ledger: NoticeLedger
  private let world: World

  /// `folder`: of the server's data, in which `notices.db` remembers ids.
  package init(_ server: ServerHost, senders: NoticeSenders, folder: String, world: World) {
    find = { server.notices(of: $0) }
    self.senders = senders
    ledger = NoticeLedger(path: "\(folder)/notices.db", world: world)
    self.world = world
  }

  /// With a single package, for tests.
  package init(_ desk: NoticeDesk, senders: NoticeSenders, folder: String) {
    find = { $0.lowercased() == desk.package.name.lowercased() ? [desk] : [] }
    self.senders = senders
    world = desk.world
    ledger = NoticeLedger(path: "\(folder)/notices.db", world: desk.world)
  }

  /// Whether a request is for this.
  package static func isMeant(by request: HTTPRequest) -> Bool { request.path.hasPrefix(path) }

  /// Judges a request by its head: who has neither token nor signature sends no body.
  package func admit(_ request: HTTPRequest) -> HTTPAdmission {
    guard request.method == .post else {
      return .refuse(
        NoticeAnswer.refusal(405, "A notice is sent by POST.", headers: ["Allow": "POST"]))
    }
    if let token = request.bearerToken {
      guard let sender = senders.sender(token: token) else { return .refuse(NoticeAnswer.noSender) }
      guard sender.package.lowercased() == name(of: request)?.lowercased() else {
        return .refuse(NoticeAnswer.noPackage)
      }
      return .stream(
        bodyBytes: NoticeBody.streamBytes, by: HTTPCaller(user: "notices \(sender.name)"))
    }
    guard NoticeSignature.isSigned(request) else { return .refuse(NoticeAnswer.noSender) }
    return .take(bodyBytes: NoticeBody.wholeBytes)
  }

  private func name(of request: HTTPRequest) -> String? {
    guard let parts = request.pathSegments, parts.count == 2 else { return nil }
    return parts[1]
  }

  /// Never throws: what goes wrong is an answer.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let name = name(of: request) else { return NoticeAnswer.noPackage }
    let sender: NoticeSenders.Sender
    var id: String?
    if let token = request.bearerToken {
      guard let found = senders.sender(token: token) else { return NoticeAnswer.noSender }
      sender = found
    } else {
      let own = senders.senders.filter { $0.package.lowercased() == name.lowercased() }
      switch NoticeSignature.check(
        request, request.body, own, now: world.clock.now.milliseconds / 1_000)
      {
      case .bad(let reason): return NoticeAnswer.refusal(401, "The sender is not known: \(reason).")
      case .good(let found, let given): (sender, id) = (found, given)
      }
    }
    guard sender.package.lowercased() == name.lowercased() else { return NoticeAnswer.noPackage }
    let desks = find(name)
    guard !desks.isEmpty else { return NoticeAnswer.noPackage }
    let work = NoticeWork(
      desks: desks, sender: sender, versions: senders.versions[name.lowercased()] ?? [:],
      ledger: ledger)
    return await NoticeBody(request, id: id).answer(by: work)
  }
}

/// Takes messages for every version of a package.
struct NoticeWork: Sendable {
  let desks: [NoticeDesk]
  let sender: NoticeSenders.Sender
  let versions: [String: String]
  let ledger: NoticeLedger

  private var scope: String { "\(sender.package.lowercased()) \(sender.name)" }

  /// What became of one message.
  struct Result: Sendable {
    let id: String?
    let outcome: String
    let reason: String?

    static let refused = "refused"
  }

  /// `together`: where one message cannot be taken, none is.
  func take(
    _ nodes: [JSONNode], id: String? = nil, together: Bool = false
  ) async throws -> [Result] {
    let nodes = sender.shape.map { shape in nodes.flatMap { shape.messages($0) } } ?? nodes
    let readings = desks.map { desk in
      nodes.map {
        NoticeMessage($0, desk.package, sender, versions: versions, id: nodes.count == 1 ? id : nil)
      }
    }
    guard let first = readings.first else { return [] }
    let known = try await ledger.known(first.compactMap(\.id), scope: scope)
    if together, first.contains(where: { if case .failure = $0.reading { true } else { false } }) {
      return first.map { message in
        guard case .failure(let fault) = message.reading else {
          return Result(
            id: message.id, outcome: "skipped", reason: "another message cannot be taken")
        }
        return Result(id: message.id, outcome: Result.refused, reason: fault.reason)
      }
    }
    var outcomes: [NoticeOutcome?] = nodes.map { _ in nil }
    var seen: Set<String> = []
    var fresh: [Int] = []
    for (place, message) in first.enumerated() {
      if let id = message.id, known[id] != nil || !seen.insert(id).inserted { continue }
      fresh.append(place)
    }
    for (desk, messages) in zip(desks, readings) {
      let notices = fresh.compactMap { place -> (Int, Notice)? in
        if case .success(let notice) = messages[place].reading { (place, notice) } else { nil }
      }
      let found = try await desk.take(notices.map(\.1))
      for ((place, _), outcome) in zip(notices, found) { outcomes[place] = outcome }
    }
    var results: [Result] = []
    var noted: [(id: String, outcome: String)] = []
    let isFresh = Set(fresh)
    for (place, message) in first.enumerated() {
      guard isFresh.contains(place) else {
        results.append(Result(id: message.id, outcome: "repeated", reason: nil))
        continue
      }
      let result = NoticeWork.result(message, outcomes[place])
      results.append(result)
      // One that was refused may be sent again, corrected.
      if let id = message.id, result.outcome != Result.refused {
        noted.append((id, result.outcome))
      }
    }
    try await ledger.note(noted, scope: scope)
    return results
  }

  private static func result(_ message: NoticeMessage, _ outcome: NoticeOutcome?) -> Result {
    switch outcome {
    case .taken?: return Result(id: message.id, outcome: "taken", reason: nil)
    case .readBack?: return Result(id: message.id, outcome: "readBack", reason: nil)
    case .older?: return Result(id: message.id, outcome: "older", reason: nil)
    case .held?:
      return Result(
        id: message.id, outcome: "held",
        reason: "very many objects would be deleted at once; all rows are compared first")
    case .unfit(let reason)?:
      return Result(id: message.id, outcome: Result.refused, reason: reason)
    case nil:
      guard case .failure(let fault) = message.reading else {
        return Result(id: message.id, outcome: Result.refused, reason: "it could not be taken")
      }
      return Result(id: message.id, outcome: Result.refused, reason: fault.reason)
    }
  }
}
