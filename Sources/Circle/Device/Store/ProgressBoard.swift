/// Where those wait who follow how a big value comes and goes.
package final class ProgressBoard: Sendable {
  private struct Place: Equatable {
    let entity: String
    let object: Int64
    let attribute: String
  }

  private let loops = StreamFollowers<BigValueProgress, Place>()

  init() {}

  /// What is told of one attribute of one object from now on; of several that wait, the last. It ends
  /// when the database is closed.
  package func follow(
    entity: String, object: Int64, attribute: String
  ) -> AsyncStream<BigValueProgress> {
    loops.follow(Place(entity: entity, object: object, attribute: attribute), keeping: 1)
  }

  /// How many follow, for tests.
  package var followers: Int { loops.count }

  package func post(_ progress: BigValueProgress) {
    let place = Place(
      entity: progress.entity, object: progress.surrogateKey, attribute: progress.attribute)
    loops.post(progress) { $0 == place }
  }

  func close() { loops.close() }
}
