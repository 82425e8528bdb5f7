/// Numbers at which arithmetic ends: the limits of each width, exponents of every size, long runs of
/// digits, and texts that are nearly numbers.
public enum NumberExtremes {
  /// As texts, such as a document from outside may have them.
  public static let texts: [String] =
    limits + exponents + long + [
      "0", "-0", "+0", "-0.0", "0e0", "00", "-", "+", ".", "-.", "e", "1e", "1e-", "1e+",
      "1.", ".5", "-.5", "1.5.5", "0x7fffffffffffffff", "NaN", "-nan", "inf", "-Infinity", "INF",
    ]

  /// Those that a document of JSON may have where a number stands.
  public static let inJSON: [String] =
    [
      "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-1", "-0",
      "18446744073709551615", "2147483648", "-2147483649", "9223372036854776", "1e400", "1e308",
      "1e-9223372036854775808", "1e9223372036854775807", String(repeating: "9", count: 400),
    ]

  private static let limits: [String] = {
    var found: [String] = ["18446744073709551615", "18446744073709551616"]
    for bits in [7, 8, 15, 16, 31, 32, 63] {
      let edge = UInt64(1) << UInt64(bits)
      for number in [edge - 1, edge, edge + 1] { found += ["\(number)", "-\(number)"] }
    }
    // Milliseconds of seconds, seconds of days, and 128 bits.
    return found + [
      "9223372036854775", "9223372036854776", "-9223372036854776", "106751991167300",
      "106751991167301", "-106751991167301", "99999999999999", "100000000000000",
      "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728",
      "+9223372036854775807",
    ]
  }()

  private static let exponents: [String] = {
    let sizes = [
      "0", "1", "38", "39", "308", "309", "324", "399", "400", "401", "999999", "1000000",
      "2147483648", "9223372036854775807", "9223372036854775808", "18446744073709551616",
      String(repeating: "9", count: 100),
    ]
    return sizes.flatMap { size in
      ["1", "-1", "0", "9.99"].flatMap { ["\($0)e\(size)", "\($0)E-\(size)", "\($0)e+\(size)"] }
    }
  }()

  private static let long: [String] = {
    let digits = String(repeating: "9", count: 5_000)
    return [
      digits, "-" + digits, "0." + digits, "1e" + digits, "1e-" + digits,
      String(repeating: "0", count: 5_000) + "1", "1." + String(repeating: "0", count: 5_000),
    ]
  }()
}
