/// Decides which deletions of a load are believed: half an answer looks like a mass deletion.
struct LoadMachine {
  /// What the last load would have deleted where it was not believed: by partition, a digest of the
  /// rows.
  private var doubted: [Int64: UInt64] = [:]
  let massDeletionRows: Int

  init(massDeletionRows: Int) { self.massDeletionRows = massDeletionRows }

  /// Rows of one partition that the load did not give.
  struct Absence: Equatable {
    /// 0 for rows that are nobody's.
    let partition: Int64
    var rows: [Int64]
    /// Rows the partition has, these included.
    let liveRows: Int64
  }

  struct Verdict: Equatable {
    var deleted: [Int64] = []
    /// Partitions whose deletions wait for a second equal load.
    var doubted: [Int64] = []
  }

  mutating func judge(_ absences: [Absence]) -> Verdict {
    var verdict = Verdict()
    var next: [Int64: UInt64] = [:]
    for absence in absences.sorted(by: { $0.partition < $1.partition }) {
      assert(
        absence.rows.count <= absence.liveRows,
        "a load lacks more rows of partition \(absence.partition) than it has")
      let allowed = max(massDeletionRows, Int(absence.liveRows / 2))
      let digest = LoadMachine.digest(absence.rows)
      if absence.rows.count <= allowed || doubted[absence.partition] == digest {
        verdict.deleted += absence.rows
      } else {
        verdict.doubted.append(absence.partition)
        next[absence.partition] = digest
      }
    }
    doubted = next
    return verdict
  }

  /// FNV-1a over the numbers in their order.
  private static func digest(_ rows: [Int64]) -> UInt64 {
    rows.sorted().reduce(0xCBF2_9CE4_8422_2325) { hash, row in
      (hash ^ UInt64(bitPattern: row)) &* 0x100_0000_01B3
    }
  }
}
