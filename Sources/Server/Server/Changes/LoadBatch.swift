import FerryConnector
import FerryModel
import FerryWire

/// A row of a load, checked and encoded.
struct LoadRow: Sendable {
  let name: RowName
  let values: [AttributeValue]
  let body: [UInt8]
  /// 0 where the load compares: only a row that differs needs one.
  let hash: Int64
}

/// Rows of one entity as a load brought them, with those that do not fit.
struct LoadBatch: Sendable {
  let entity: Int
  var rows: [LoadRow]
  var rejected: [RejectedRow] = []

  /// The same in pieces of at most `limit` rows.
  func pieces(of limit: Int) -> [LoadBatch] {
    guard rows.count > limit else { return [self] }
    var pieces = stride(from: 0, to: rows.count, by: limit).map { start in
      LoadBatch(entity: entity, rows: Array(rows[start..<min(start + limit, rows.count)]))
    }
    pieces[0].rejected = rejected
    return pieces
  }
}

/// Checks and encodes what a load brings; on whichever thread reads it.
struct LoadCoder: Sendable {
  let rules: PartitionRules

  func batch(_ entity: Int, _ images: [RowImage], isFirst: Bool) -> LoadBatch {
    let model = rules.package.entities[entity]
    var batch = LoadBatch(entity: entity, rows: [])
    batch.rows.reserveCapacity(images.count)
    for image in images {
      if let problem = RowCheck.problem(image, model) {
        batch.rejected.append(problem)
        continue
      }
      guard let values = image.values else { continue }
      let body = RowCoder.encode(values)
      let hash = isFirst ? RowHash.of(entity: model.name, key: image.key, body: body) : 0
      batch.rows.append(
        LoadRow(name: RowName(entity, image.key), values: values, body: body, hash: hash))
    }
    return batch
  }
}
