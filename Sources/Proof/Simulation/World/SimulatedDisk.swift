import FerryFaultVFS

/// A disk of the simulation, and the trouble that is planned for it.
final class SimulatedDisk {
  enum Trouble {
    /// The process or the machine ends while an operation of the disk is under way.
    case crash(FaultDisk.Crash)
    /// So many operations find no room.
    case full(Int)
    /// So many operations fail.
    case broken(Int)
    /// No operation finds room, until its process has ended and started again.
    case fullOverRestart
  }

  private let disk: FaultDisk
  private var planned: (trouble: Trouble, at: Int)?
  private var isCounted = false
  /// From this step on a disk that was full over a restart has room again.
  var hasRoomFrom: Int?
  private static let inputOutputError: Int32 = 10
  private static let noRoom: Int32 = 13

  init(_ disk: FaultDisk = FaultDisk()) {
    self.disk = disk
    disk.keepHistory(false)
  }

  var vfs: String { disk.vfs }
  var isTroubled: Bool { planned != nil }
  /// Whether whoever writes on it is dying.
  var isDying: Bool { if case .crash? = begun { true } else { false } }
  /// Grows with everything that is written: while it stands, so does what is on the disk.
  var operations: Int { disk.operations }

  /// Lets the trouble come at the so-many-eth operation from now on.
  func plan(_ trouble: Trouble, in operations: Int) {
    guard planned == nil else { return }
    let at = disk.operations + operations
    planned = (trouble, at)
    isCounted = false
    switch trouble {
    case .crash: disk.fail(at: at, code: SimulatedDisk.inputOutputError, times: nil)
    case .full(let times): disk.fail(at: at, code: SimulatedDisk.noRoom, times: times)
    case .fullOverRestart: disk.fail(at: at, code: SimulatedDisk.noRoom, times: nil)
    case .broken(let times): disk.fail(at: at, code: SimulatedDisk.inputOutputError, times: times)
    }
  }

  /// The planned trouble, once an operation has met it.
  var begun: Trouble? { planned.flatMap { disk.operations > $0.at ? $0.trouble : nil } }

  /// Whether it is full while its process starts.
  var isFullOverRestart: Bool { if case .fullOverRestart? = begun { true } else { false } }

  /// The trouble of its disk that has struck since it was asked last; a crash is counted where its
  /// process ends, and so is a disk that is full over a start.
  func takeStruck() -> SimulatedFault? {
    guard !isCounted else { return nil }
    switch begun {
    case .full:
      isCounted = true
      return .diskFull
    case .broken:
      isCounted = true
      return .diskBroken
    case .crash, .fullOverRestart, nil: return nil
    }
  }

  /// Whether its process has not started on the full disk before.
  func takeFullStart() -> Bool {
    guard isFullOverRestart, !isCounted else { return false }
    isCounted = true
    return true
  }

  /// Whether all operations that were to fail have failed.
  var isOver: Bool {
    guard let planned else { return true }
    switch planned.trouble {
    case .crash, .fullOverRestart: return false
    case .full(let times), .broken(let times): return disk.operations >= planned.at + times
    }
  }

  /// The disk works again.
  func end() {
    planned = nil
    hasRoomFrom = nil
    disk.fail(at: .max, code: 0, times: 0)
  }

  /// The crash comes now; open connections fail from then on.
  func crash(_ crash: FaultDisk.Crash, seed: UInt64) {
    end()
    disk.crash(crash, seed: seed)
  }

  /// Every file as it can be read now.
  var files: [(path: String, bytes: [UInt8])] {
    disk.paths.map { ($0, disk.bytes($0) ?? []) }
  }

  /// All that is on it, as a backup has it.
  func copy() -> SimulatedDisk {
    SimulatedDisk(disk.survivors(at: disk.operations, .kill, seed: 0))
  }
}
