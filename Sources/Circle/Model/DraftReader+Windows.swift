import FerryJSON

extension DraftReader {
  mutating func window(_ node: JSONNode, _ path: String) -> DraftWindow? {
    guard let fields = object(node, path: path, of: "a window", keys: ModelKey.window) else {
      return nil
    }
    return DraftWindow(
      place: ModelPlace(offset: node.offset, path: path), attribute: text(fields, "column"),
      from: days(fields, "from"), to: days(fields, "to"),
      at: read(
        fields, "at", PartitionWindow.minute, "is no hour of the day",
        cure: "Write it as in \"03:00\"."),
      zone: text(fields, "zone"))
  }

  private mutating func days(_ fields: ModelFields, _ key: String) -> Placed<Int64>? {
    read(
      fields, key, PartitionWindow.days, "is no number of days",
      cure: "Write it as in \"-30 days\", \"+14 days\" or \"0 days\".")
  }

  private mutating func read(
    _ fields: ModelFields, _ key: String, _ number: (String) -> Int64?, _ problem: String,
    cure: String
  ) -> Placed<Int64>? {
    guard let text = text(fields, key) else { return nil }
    guard let number = number(text.content) else {
      findings.error(text.place, "\"\(text.content)\" \(problem)", cure: cure)
      return nil
    }
    return Placed(content: number, place: text.place)
  }
}
