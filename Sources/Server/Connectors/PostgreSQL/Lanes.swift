import FerryConnector
import FerryModel

/// Shares groups out among connections that perform side by side. Pure.
///
/// What one user did stays in one lane and in its order, and so does what is about one object: a later
/// group may need what an earlier one has made.
struct Lanes {
  /// The places of groups, by lane, each lane in their order.
  let places: [[Int]]

  /// Fewer groups than this for each lane are done sooner in one transaction.
  static let leastGroups: Int = 4

  init(_ groups: [[ConnectorOperation]], connections: Int) {
    let bundles = Lanes.bundles(groups)
    let count = max(1, min(connections, bundles.count, groups.count / Lanes.leastGroups))
    var places = [[Int]](repeating: [], count: count)
    for bundle in bundles {
      let lane = places.indices.min { places[$0].count < places[$1].count } ?? 0
      places[lane] += bundle
    }
    self.places = places.map { $0.sorted() }
  }

  private enum Mark: Hashable {
    case user(String?)
    case object(String, ObjectKey)
  }

  /// Groups that must be in one lane; the largest bundle first.
  private static func bundles(_ groups: [[ConnectorOperation]]) -> [[Int]] {
    var parents = Array(groups.indices)
    func root(_ index: Int) -> Int {
      var index = index
      while parents[index] != index { index = parents[index] }
      return index
    }
    var first: [Mark: Int] = [:]
    for (index, group) in groups.enumerated() {
      for operation in group {
        var marks: [Mark] = [.user(operation.user)]
        if let key = operation.key { marks.append(.object(operation.entity.name, key)) }
        for mark in marks {
          guard let other = first[mark] else {
            first[mark] = index
            continue
          }
          let (old, new) = (root(index), root(other))
          if old != new { parents[max(old, new)] = min(old, new) }
        }
      }
    }
    let bundles = Dictionary(grouping: groups.indices) { root($0) }
    return bundles.values.sorted { left, right in
      (right.count, left[0]) < (left.count, right[0])
    }
  }
}
