import FerryConnector
import FerryModel
import FerryWire

/// What a load has read and how it ended: what it means that it did not give a row.
package struct LoadCoverage: Sendable {
  /// A scope that was read to its end.
  package struct Part: Sendable {
    package let scope: LoadScope
    package let end: LoadEnd

    package init(_ scope: LoadScope, _ end: LoadEnd) {
      self.scope = scope
      self.end = end
    }
  }

  /// What the absence of a row says.
  enum Absence: Comparable {
    /// Nothing: the load did not look there, or not everywhere.
    case nothing
    /// It may be deleted: the pages of the load are not of one moment.
    case doubt
    case gone
  }

  package let parts: [Part]

  package init(_ parts: [Part]) { self.parts = parts }

  /// `place`: of the row; nil where it is nobody's.
  func absence(
    of entity: Int, at place: Place?, _ rules: PartitionRules
  ) -> Absence {
    parts.map { part in
      guard part.end.isComplete, includes(part.scope, entity, place, rules) else {
        return Absence.nothing
      }
      return part.end.isSnapshot ? .gone : .doubt
    }.max() ?? .nothing
  }

  private func includes(
    _ scope: LoadScope, _ entity: Int, _ place: Place?, _ rules: PartitionRules
  ) -> Bool {
    guard scope.entities.contains(where: { $0.name == rules.package.entities[entity].name }) else {
      return false
    }
    let root = rules.rules[entity].root
    let narrowed = root.columns.enumerated().compactMap { index, column -> (Int, AttributeValue)? in
      guard case .parameter(let name, _) = column.source, let value = scope.parameters[name] else {
        return nil
      }
      return (index, value)
    }
    guard !narrowed.isEmpty else { return true }
    guard let place,
      let values = try? RowCoder.decode(Array("[\(place.values.text)]".utf8), types: root.types)
    else { return false }
    return narrowed.allSatisfy { values[$0] == $1 }
  }

  /// Whether every row of the entity was read.
  func isWhole(_ entity: Entity) -> Bool {
    parts.contains { part in
      part.end.isComplete && part.scope.parameters.isEmpty
        && part.scope.entities.contains { $0.name == entity.name }
    }
  }
}
