/// What `--version` prints of every program of Ferry.
public enum ProgramVersion {
  /// Nothing is released: versions of the wire, the store and the model are told apart by themselves.
  public static let number = "0.1"

  public static func text(of program: String) -> String { "\(program) \(number), not released" }
}
