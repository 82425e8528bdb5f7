import FerryFlights
import FerrySQLite

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// `ferry-sample`: writes the sample business database.
enum SampleCommand {
  static let usage: String = """
    usage: ferry-sample --out <file> [--seed <number>] [--rows <bookings>]
    Writes a SQLite database of travel agencies, carriers, flights and bookings. The same seed and
    rows give the same database. Default: seed 1 and 20000 rows.
    """

  static func run(_ arguments: [String]) {
    var out: String?
    var seed: UInt64 = 1
    var rows = 20_000
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { end(usage) }
      switch option {
      case "--out": out = value
      case "--seed":
        guard let number = UInt64(value) else { end("--seed takes a number from 0, not \(value)") }
        seed = number
      case "--rows":
        guard let number = Int(value), (1...5_000_000).contains(number) else {
          end("--rows takes a number from 1 to 5000000, not \(value)")
        }
        rows = number
      default: end(usage)
      }
    }
    guard let out else { end(usage) }
    guard access(out, F_OK) != 0 else {
      end("\(out) already exists; delete it or name another file")
    }
    do {
      try FlightsSample.write(to: out, seed: seed, bookings: rows)
      print("\(out): seed \(seed), \(rows) bookings")
    } catch {
      end(
        "\(out) cannot be written: \(error.message); check the folder and the free space on its "
          + "disk"
      )
    }
  }

  private static func end(_ message: String) -> Never {
    var line = message + "\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(1)
  }
}
