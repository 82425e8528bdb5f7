extension ModelCheck {
  /// A window has a column with a day, which every row should have, and its borders are in order.
  mutating func checkWindow(_ entity: DraftEntity) {
    guard let window = entity.window else { return }
    if entity.isClientOnly || entity.performs != nil {
      findings.error(
        window.place,
        "\(entity.shownName) has no rows of the business system, and cannot have a \"window\"",
        cure: "Remove \"window\".")
    }
    if let name = window.attribute { checkDay(name, of: entity) }
    for border in [window.from, window.to].compactMap({ $0 })
    where border.content.magnitude > PartitionWindow.longest {
      findings.error(
        border.place,
        "the window of \(entity.shownName) is more than \(PartitionWindow.longest) days away",
        cure: "Write at most \(PartitionWindow.longest) days, which are ten years.")
    }
    if let from = window.from, let to = window.to, from.content > to.content {
      findings.error(
        from.place, "the window of \(entity.shownName) begins after its end: no row is in it",
        cure: "Write the earlier border in \"from\", the later one in \"to\".")
    }
    if let zone = window.zone, !PartitionWindow.isZone(zone.content) || !isZone(zone.content) {
      findings.error(
        zone.place, "\"\(zone.content)\" is no time zone of this machine",
        cure: "Write a name such as Europe/Zurich.")
    }
  }

  private mutating func checkDay(_ name: Placed<String>, of entity: DraftEntity) {
    guard let attribute = entity.attribute(named: name.content) else {
      unknownAttribute(name, of: entity)
      return
    }
    let shown = "\(entity.shownName).\(name.content)"
    if let type = attribute.type, type != .date, type != .dateTime {
      findings.error(
        name.place, "\(shown) is \(type.rawValue), and a window needs a day",
        cure: "Name an attribute that is a date or a dateTime.")
    }
    if attribute.isClientOnly {
      findings.error(
        name.place, "\(shown) is \"clientOnly\", and the server moves the window",
        cure: "Name an attribute of the business system.")
    } else if attribute.isNullable {
      findings.warning(
        name.place,
        "\(shown) may be null: such rows are in no partition, and no device gets them",
        cure: "Name an attribute that every row has, if there is one.")
    }
  }
}
