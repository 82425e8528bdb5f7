/// What no address may pass, each with its reason. All are counted while parsing, so that a
/// hostile address costs no more than the limit.
public struct ODataAddressLimits: Sendable, Hashable {
  /// Bytes of the whole address. Servers and proxies end between 8 and 64 KB; what is longer
  /// belongs into the body of a `$query` or a batch.
  public var lengthBytes: Int = 64 << 10
  /// Parentheses, lists and operators inside each other; what stands in parentheses behind a name
  /// counts twice, options in parentheses three times. People nest five, programs twenty; 64 fit
  /// into the smallest stack that a thread gets (512 KB), unoptimised too.
  public var depth: Int = 64
  /// Operators, names, literals, segments and items together: what a service must look at. The
  /// longest generated `in` lists have some thousands.
  public var nodes: Int = 10_000
  /// Letters of one name, as the specification has it.
  public var nameLength: Int = 128

  /// The limits that hold unless a service changes them.
  public init() {}
  /// All defaults: 64 KB, depth 64, 10,000 nodes.
  public static let standard = ODataAddressLimits()
}
