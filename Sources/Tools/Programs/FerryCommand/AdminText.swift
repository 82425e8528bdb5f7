import FerryJSON

/// Answers of the admin API as lines for people.
enum AdminText {
  static func text(_ verb: String, _ node: JSONNode) -> String {
    switch verb {
    case "operations": operations(node["operations"])
    case "operation": operation(node)
    case "causes":
      list(node["causes"], none: "nothing that was refused waits for anybody") { one in
        "\(shown(one["operations"]))  \(shown(one["cause"]))  (for example \(shown(one["example"])))"
      }
    case "outcomes":
      list(node["operations"], none: "the outcome of every operation is known") { one in
        var lines = [
          "\(shown(one["id"]))  \(shown(one["kind"])) \(shown(one["entity"])) \(shown(one["key"])), "
            + "\(shown(one["user"])) on \(shown(one["device"]))",
          "  asked  \(shown(one["sent"]))", "  reason \(shown(one["reason"]))",
        ]
        lines += (one["candidates"]?.array ?? []).map { "  found  \(shown($0))" }
        return lines.joined(separator: "\n")
      }
    case "devices":
      list(node["devices"], none: "there is no such device") { one in
        "\(shown(one["user"]))  \(shown(one["device"]))  \(shown(one["state"]))  silent for "
          + "\(shown(one["silentSeconds"])) s  pending \(shown(one["pending"]))"
      }
    case "rejected":
      list(node["rows"], none: "every row fits its model") { one in
        "\(shown(one["package"]))  \(shown(one["entity"])) \(shown(one["key"])) "
          + "\(shown(one["attribute"])): \(shown(one["reason"]))"
      }
    case "audit":
      list(node["lines"], none: "there is no such line") { one in
        (one.object ?? []).map { "\($0.key)=\(shown($0.value))" }.joined(separator: " ")
      }
    case "logs":
      list(node["records"], none: "no record fits") { one in
        if let line = one["line"] {
          return (line.object ?? []).map { "\($0.key)=\(shown($0.value))" }
            .joined(separator: " ")
        }
        return "\(shown(one["time"]))  \(shown(one["level"]))  \(shown(one["component"])) "
          + "\(shown(one["key"]))  \(shown(one["code"])) \(shown(one["message"]))  "
          + "\(shown(one["user"])) on \(shown(one["device"]))  \(shown(one["id"]))"
      }
    case "timeline":
      list(node["moments"], none: "nothing is known of it") { one in
        "\(shown(one["time"]))  \(shown(one["from"]))  \(shown(one["level"]))  "
          + "\(shown(one["message"]))"
      }
    case "overview": overview(node)
    case "why": "\(shown(node["verdict"]))\n\(shown(node["row"]))"
    default: done(node)
    }
  }

  private static func list(
    _ node: JSONNode?, none: String, _ line: (JSONNode) -> String
  ) -> String {
    let all = node?.array ?? []
    return all.isEmpty ? none : all.map(line).joined(separator: "\n")
  }

  private static func operations(_ node: JSONNode?) -> String {
    list(node, none: "there is no such operation") { one in
      var line =
        "\(shown(one["id"]))  \(shown(one["state"]))  \(shown(one["kind"])) "
        + "\(shown(one["entity"])) \(shown(one["key"]))  \(shown(one["user"])) on "
        + shown(one["device"])
      if one["cause"] != nil { line += "  \(shown(one["cause"]))" }
      if let decision = one["correction"] {
        line +=
          "  [\(shown(decision["verb"])) \(shown(decision["state"])) by "
          + "\(shown(decision["by"])): \(shown(decision["reason"]))]"
      }
      return line
    }
  }

  private static func operation(_ node: JSONNode) -> String {
    var lines = [
      "\(shown(node["id"]))  \(shown(node["state"]))",
      "\(shown(node["kind"])) \(shown(node["entity"])) \(shown(node["key"])), "
        + "\(shown(node["user"])) on \(shown(node["device"]))",
    ]
    for record in node["records"]?.array ?? [] {
      lines.append("  \(shown(record["code"]))  \(shown(record["message"]))")
    }
    if node["valuesShown"]?.boolean == true {
      for attribute in node["attributes"]?.array ?? [] {
        lines.append(
          "  \(shown(attribute["name"])): base \(shown(attribute["base"])), mine "
            + "\(shown(attribute["mine"])), theirs \(shown(attribute["theirs"]))")
      }
    }
    for decision in node["corrections"]?.array ?? [] {
      lines.append(
        "  \(shown(decision["verb"])) by \(shown(decision["by"])): \(shown(decision["state"]))"
          + (decision["became"] == nil ? "" : " as \(shown(decision["became"]))")
          + (decision["detail"] == nil ? "" : ", \(shown(decision["detail"]))"))
    }
    return lines.joined(separator: "\n")
  }

  private static func overview(_ node: JSONNode) -> String {
    var lines: [String] = []
    for one in node["packages"]?.array ?? [] {
      lines.append(
        "\(shown(one["package"]))  \(shown(one["status"]))  channels \(shown(one["channels"]))  "
          + "waiting \(shown(one["waitingOperations"]))")
    }
    for one in node["operations"]?.array ?? [] {
      let counts = ["waiting", "refused", "unknown", "accepted"]
        .map { "\($0) \(shown(one[$0]))" }
      lines.append("\(shown(one["package"]))  \(counts.joined(separator: "  "))")
    }
    lines.append("devices \(shown(node["devices"]))")
    return lines.joined(separator: "\n")
  }

  private static func done(_ node: JSONNode) -> String {
    if let count = node["operations"]?.integer {
      let not = (node["notDone"]?.array ?? []).map {
        "\n  \(shown($0["id"])): \(shown($0["message"]))"
      }
      return "\(count) operations\(not.joined())"
    }
    return node["willDo"]?.string ?? "done"
  }

  private static func shown(_ node: JSONNode?) -> String {
    guard let node, !node.isNull else { return "–" }
    return node.string ?? JSONText.of(node)
  }
}
