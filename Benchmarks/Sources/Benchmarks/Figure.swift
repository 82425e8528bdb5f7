/// What was found: ours against the limit, and whether that is good enough.
struct Figure: Codable, Sendable {
  /// What was promised.
  enum Aim: Sendable {
    case none
    /// Of the ratio of ours to the limit.
    case ratioAtMost(Double)
    case ratioAtLeast(Double)
    /// Of ours itself.
    case atMost(Double)
    case atLeast(Double)
  }

  let measure: Int
  let name: String
  /// How many of them.
  let n: Int
  /// What the figures count.
  let unit: String
  /// What the limit was taken of; empty where there is none.
  let peer: String
  let limit: Double?
  let ours: Double
  let ratio: Double?
  /// As a person would say it; empty when nothing was promised.
  let aim: String
  /// nil when nothing was promised, or the peer it was promised against was not there.
  let met: Bool?
  /// In the unit of the figure.
  let p99: Double?
  /// Of the process that was measured.
  let peakMegabytes: Double?

  init(
    _ measure: Int, _ name: String, n: Int, unit: String, ours: Double, limit: Double? = nil,
    of peer: String = "", aim: Aim = .none, p99: Double? = nil, peakMegabytes: Double? = nil
  ) {
    self.measure = measure
    self.name = name
    self.n = n
    self.unit = unit
    self.peer = peer
    self.limit = limit
    self.ours = ours
    self.p99 = p99
    self.peakMegabytes = peakMegabytes
    let ratio = limit.map { ours / $0 }
    self.ratio = ratio
    switch aim {
    case .none: (self.aim, met) = ("", nil)
    case .ratioAtMost(let most): (self.aim, met) = ("ratio <= \(most)", ratio.map { $0 <= most })
    case .ratioAtLeast(let least):
      (self.aim, met) = ("ratio >= \(least)", ratio.map { $0 >= least })
    case .atMost(let most): (self.aim, met) = ("<= \(most) \(unit)", ours <= most)
    case .atLeast(let least): (self.aim, met) = (">= \(least) \(unit)", ours >= least)
    }
  }

  /// Every name for every figure: what there is not is null.
  func encode(to encoder: any Encoder) throws {
    var all = encoder.container(keyedBy: CodingKeys.self)
    try all.encode(measure, forKey: .measure)
    try all.encode(name, forKey: .name)
    try all.encode(n, forKey: .n)
    try all.encode(unit, forKey: .unit)
    try all.encode(peer, forKey: .peer)
    try all.encode(limit, forKey: .limit)
    try all.encode(ours, forKey: .ours)
    try all.encode(ratio, forKey: .ratio)
    try all.encode(aim, forKey: .aim)
    try all.encode(met, forKey: .met)
    try all.encode(p99, forKey: .p99)
    try all.encode(peakMegabytes, forKey: .peakMegabytes)
  }
}
