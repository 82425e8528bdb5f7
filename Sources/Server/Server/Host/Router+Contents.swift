import FerryHTTP
import FerryWire

/// Big values: pieces that devices send, and stretches that they ask for.
extension Router {
  func take(_ request: HTTPRequest, from identity: TokenIdentity) async -> HTTPResponse {
    guard request.body.count <= WireLimits.contentPieceLimit else {
      return refusal(
        413, "tooLarge", "a piece of \(request.body.count) bytes",
        hint: "A piece has at most \(WireLimits.contentPieceLimit) bytes.")
    }
    guard let piece = ContentPiece(request) else {
      return unreadable("a piece goes to content/<operation>/<attribute> with Content-Range")
    }
    var no = Router.noPackage
    do throws(ServerError) {
      for package in packages(of: request) {
        switch try await package.service.take(piece, from: identity) {
        case .success(let (progress, isTaken)): return json(isTaken ? 200 : 409, progress.json)
        case .failure(let refusal): if no == Router.noPackage || no.status == 404 { no = refusal }
        }
      }
    } catch {
      return refusal(Router.status(of: error.code), error)
    }
    return answer(no, request, of: identity)
  }

  func give(_ request: HTTPRequest, to identity: TokenIdentity) async -> HTTPResponse {
    guard let question = ContentQuestion(request) else {
      return unreadable("content takes entity, key and attribute, and Range: bytes=<from>-<last>")
    }
    var no = Router.noPackage
    do throws(ServerError) {
      for package in packages(of: request) {
        switch try await package.service.reference(question, for: identity) {
        case .failure(let refusal): no = refusal
        case .success(let (reference, entity, position)):
          return package.contents.response(
            ContentHost.Place(entity: entity, key: question.key, position: position), reference,
            question.stretch, tag: "\"\(reference)\""
          ) { await package.service.mayLeave(reference, question, to: identity) }
        }
      }
    } catch {
      return refusal(Router.status(of: error.code), error)
    }
    return answer(no, request, of: identity)
  }

  /// Those that a request about a content may mean: the one that it names, or all, as those of older
  /// devices name none.
  private func packages(of request: HTTPRequest) -> [ServedPackage] {
    guard let named = request.queryValue("package") else { return packages }
    return package(named).map { [$0] } ?? []
  }

  /// A package that is served again in a moment may have what no other one has.
  private func answer(
    _ no: ContentRefusal, _ request: HTTPRequest, of identity: TokenIdentity
  ) -> HTTPResponse {
    let known = absent.filter(identity.mayUse)
    let isMeant = request.queryValue("package").map { known.contains($0) } ?? !known.isEmpty
    guard no.status == 404, isMeant else {
      return refusal(no.status, no.code, no.message, hint: no.hint)
    }
    return refusal(503, ServiceHost.stopped)
  }

  private static let noPackage = ContentRefusal.noPackage
}
