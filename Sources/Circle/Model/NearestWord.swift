/// Finds what someone probably meant.
public enum NearestWord {
  /// The word of the list that needs the fewest single changes, if that is few enough to be a slip.
  public static func find(_ word: String, among words: some Sequence<String>) -> String? {
    let wanted = Array(word.lowercased())
    let limit = max(1, min(3, wanted.count / 3))
    var best: (word: String, distance: Int)?
    for candidate in words {
      let distance = distance(wanted, Array(candidate.lowercased()))
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.word
  }

  /// At most three words that someone may have meant, the nearest first: few changes away, or
  /// longer words that begin with it.
  package static func near(_ word: String, among words: some Sequence<String>) -> [String] {
    let wanted = Array(word.lowercased())
    let limit = max(1, min(3, wanted.count / 3))
    var found: [(word: String, distance: Int)] = []
    for candidate in words {
      let letters = Array(candidate.lowercased())
      let distance = distance(wanted, letters)
      if distance <= limit {
        found.append((candidate, distance))
      } else if !wanted.isEmpty, letters.starts(with: wanted) {
        found.append((candidate, limit + 1))
      }
    }
    let sorted = found.sorted { ($0.distance, $0.word) < ($1.distance, $1.word) }
    return sorted.prefix(3).map(\.word)
  }

  /// `Did you mean "x"?`, or the list where nothing is near.
  public static func cure(_ word: String, among words: [String]) -> String {
    if let near = find(word, among: words) { return "Did you mean \"\(near)\"?" }
    return "Known here: \(words.joined(separator: ", "))."
  }

  /// Insertions, removals, replacements and swaps of neighbours.
  static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for (row, letter) in left.enumerated() {
      var line = [row + 1]
      for (column, other) in right.enumerated() {
        var cost = min(
          last[column + 1] + 1, line[column] + 1, last[column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          cost = min(cost, before[column - 1] + 1)
        }
        line.append(cost)
      }
      before = last
      last = line
    }
    return last[right.count]
  }
}
