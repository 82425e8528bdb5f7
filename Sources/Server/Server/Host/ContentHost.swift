import FerryConnector
import FerryHTTP
import FerryModel
import FerryWire
import FerryWorld
import Synchronization

/// Reads big values out of the business system for devices that ask for them, on a thread of its
/// own: a slow one keeps neither replays nor loads waiting.
package actor ContentHost {
  /// Where a content stands in the business system.
  struct Place: Sendable {
    let entity: Entity
    let key: ObjectKey
    let position: Int
  }

  private let executor: ThreadExecutor
  /// By the number of the connection.
  private let connectors: [any Connector]
  private let service: ServiceHost
  private let world: World

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  package init(
    connectors: sending [any Connector], service: ServiceHost, world: World,
    on thread: ThreadExecutor? = nil
  ) {
    executor = thread ?? ThreadExecutor(name: "ferry-contents")
    self.connectors = connectors
    self.service = service
    self.world = world
  }

  /// The answer that gives a stretch of a content, a piece at a time. `mayLeave` is asked about each
  /// piece when it has been read, and what it does not allow does not leave.
  nonisolated func response(
    _ place: Place, _ reference: BigReference, _ stretch: ContentStretch, tag: String,
    mayLeave: @escaping @Sendable () async -> Bool
  ) -> HTTPResponse {
    let size = reference.sizeBytes
    let start = stretch.start
    let end = stretch.end(of: size)
    var headers: HTTPHeaders = [
      "Content-Type": "application/octet-stream", "Cache-Control": "no-store", "ETag": tag,
    ]
    guard start < size else { return HTTPResponse(status: 200, headers: headers) }
    headers["Content-Range"] = ContentRange(start: start, count: end - start, sizeBytes: size).text
    return HTTPResponse(
      status: 206, headers: headers,
      body: .stream(
        ContentBody(host: self, place: place, from: start, end: end, mayLeave: mayLeave)))
  }

  /// Nil where the business system cannot be asked, or has no such value any more.
  fileprivate func stretch(_ place: Place, from offset: Int64) -> [UInt8]? {
    let connection = service.rules.connections.position(of: place.entity.name)
    do throws(ConnectorError) {
      return try connectors[connection].content(
        place.entity, key: place.key, position: place.position, offset: offset,
        count: ConnectorContent.pieceBytes)
    } catch {
      world.log.warn("a big value could not be read", ("reason", error.description))
      service.pulse.tellBusiness(error.description, of: connection)
      return nil
    }
  }
}

/// A content as the server's loop pulls it. One that ends too soon, is another by now, or is not the
/// asker's any more, cuts the line: the device keeps what it has and asks again.
private final class ContentBody: HTTPBodySource {
  private let host: ContentHost
  private let place: ContentHost.Place
  private let end: Int64
  private let offset: Mutex<Int64>
  private let mayLeave: @Sendable () async -> Bool

  init(
    host: ContentHost, place: ContentHost.Place, from start: Int64, end: Int64,
    mayLeave: @escaping @Sendable () async -> Bool
  ) {
    self.host = host
    self.place = place
    self.end = end
    offset = Mutex(start)
    self.mayLeave = mayLeave
  }

  func next() async -> HTTPBodyPiece {
    let from = offset.withLock { $0 }
    guard from < end else { return .end }
    guard let bytes = await host.stretch(place, from: from), !bytes.isEmpty else { return .abort }
    // Behind the reading: what the row has become until now counts.
    guard await mayLeave() else { return .abort }
    let fitting = Array(bytes.prefix(Int(clamping: end - from)))
    offset.withLock { $0 += Int64(fitting.count) }
    return .bytes(fitting)
  }
}
