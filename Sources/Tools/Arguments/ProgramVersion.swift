/// What `--version` prints of every program of Ferry.
package enum ProgramVersion {
  /// Nothing is released: versions of the wire, the store and the model are told apart by themselves.
  package static let number = "0.1"

  package static func text(of program: String) -> String { "\(program) \(number), not released" }
}
