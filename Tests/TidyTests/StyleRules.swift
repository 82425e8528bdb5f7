import Foundation

/// What no file of ours holds.
enum StyleRules {
  static func skippedTests(in file: SourceFile) -> [Violation] {
    let rule = "no test is skipped"
    let tokens = file.tokens
    return tokens.indices.compactMap { index in
      let name = tokens[index].text
      let isTrait =
        (name == "disabled" && tokens.match(index - 1, ".", name, "("))
        || (name == "enabled" && tokens.match(index - 1, ".", name, "(", "if"))
      let isCall = ["XCTSkip", "XCTSkipIf", "XCTSkipUnless", "withKnownIssue"].contains(name)
      let isCutOut =
        name == "#"
        && (tokens.match(index, "#", "if", "false") || tokens.match(index, "#", "if", "0"))
        || name == "." && tokens.match(index - 1, "Test", ".", "cancel", "(")
      guard isTrait || isCall || isCutOut else { return nil }
      return file.violation(
        tokens[index].line, rule, "\(name) leaves a test out",
        cure: "mend what it shows, give it what it needs, or delete it")
    }
  }

  static func unfinished(in file: SourceFile) -> [Violation] {
    let marks: Set = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
    let comments = Token.all(in: file.text.comments)
    return (comments + file.tokens).filter { marks.contains($0.text) }.map {
      file.violation(
        $0.line, "nothing is left for later in a comment", $0.text,
        cure: "do it now, or write an issue and say here what holds today")
    }
  }

  /// `try!`, `as!` and `value!`, also as a type.
  static func forced(in file: SourceFile) -> [Violation] {
    let tokens = file.tokens
    return tokens.indices.compactMap { index in
      guard tokens[index].text == "!", tokens[index].touchesPrevious, index > 0 else { return nil }
      let before = tokens[index - 1]
      guard before.isWord || [")", "]", "}", "\"", "?"].contains(before.text) else { return nil }
      guard !(tokens.text(index + 1) == "=" && tokens[index + 1].touchesPrevious) else {
        return nil
      }
      return file.violation(
        tokens[index].line, "nothing is forced in Sources", "\(before.text)!",
        cure: "use guard let, typed throws, or precondition with the values in its message")
    }
  }

  static func prints(in file: SourceFile) -> [Violation] {
    let names: Set = ["print", "debugPrint", "dump"]
    let tokens = file.tokens
    return tokens.indices.filter {
      names.contains(tokens[$0].text) && tokens.text($0 + 1) == "("
        && ![".", "func"].contains(tokens.text($0 - 1))
    }.map {
      file.violation(
        tokens[$0].line, "only programs print", "\(tokens[$0].text)(",
        cure: "write to World's log, or return the text")
    }
  }

  /// `createDirectory` takes a folder that is there, whoever made it and whatever is in it.
  static func foldersOfOthers(in file: SourceFile) -> [Violation] {
    let tokens = file.tokens
    return tokens.indices.filter {
      tokens[$0].text == "createDirectory" && tokens.text($0 + 1) == "("
    }.map {
      file.violation(
        tokens[$0].line, "a folder that must be new or our own is made by mkdir",
        "createDirectory(",
        cure: "use PrivateFolder, Folder.make, or mkdir and a look at the owner")
    }
  }

  /// Folders that may begin a task of their own or let time pass.
  static let drivers = [
    "Sources/Circle/Device/Session", "Sources/Circle/Device/Database",
    // A view's property follows its query as long as the view is there.
    "Sources/Circle/UI",
    "Sources/Server/Server/Service",
    "Sources/Ground/World", "Sources/Server/HTTPServer",
    "Sources/Ground/HTTPClient", "Sources/Server/Issuers", "Sources/Circle/OpenID",
    "Sources/Server/Server/Host",
    "Sources/Tools/Programs", "Sources/OData/Client/Queue",
    // The bridges from a blocking connector or login to a client.
    "Sources/Server/Connector/Requests", "Sources/Server/Connectors/OData",
    "Sources/Server/Security", "Sources/Tools/Connections",
    // Channels that break and push services that are busy are tried again after a while.
    "Sources/Kit/Registration", "Sources/Server/Push",
    // Keeps to the requests per second that a service allows.
    "Sources/Server/Connectors/REST",
    // Waits for device and server in one process.
    "Sources/Offline/ODataOffline",
  ]

  static func bareTasks(in file: SourceFile) -> [Violation] {
    guard !drivers.contains(where: { file.isIn($0) }) else { return [] }
    let tokens = file.tokens
    let naps: Set = ["sleep", "usleep", "nanosleep"]
    return tokens.indices.compactMap { index in
      let name = tokens[index].text
      let starts =
        name == "Task"
        && (["{", "("].contains(tokens.text(index + 1))
          || tokens.match(index + 1, ".", "detached"))
      let naps = naps.contains(name) && tokens.text(index + 1) == "("
      guard starts || naps, tokens.text(index - 1) != "func" else { return nil }
      return file.violation(
        tokens[index].line,
        "only Session, Service, World, queues, the HTTP hands and programs start tasks",
        naps ? "\(name)(" : "a bare Task",
        cure: "return an action; the driver waits on World's clock")
    }
  }

  /// Doors around the compiler's checks: in hands only, and with a proof beside them.
  static func uncheckedDoors(in file: SourceFile, isHand: Bool) -> [Violation] {
    let tokens = file.tokens
    return tokens.indices.compactMap { index in
      let isDoor =
        tokens[index].text == "@" && tokens.match(index, "@", "unchecked")
        || tokens[index].text == "nonisolated" && tokens.match(index, "nonisolated", "(", "unsafe")
      guard isDoor else { return nil }
      let line = tokens[index].line
      if !isHand {
        return file.violation(
          line, "only hands open doors around the compiler's checks",
          "\(tokens[index + 1].text == "unchecked" ? "@unchecked" : "nonisolated(unsafe)")",
          cure: "make it a value, an actor, or a Mutex")
      }
      let near = file.text.comments[max(0, line - 4)..<min(line, file.text.comments.count)]
      guard !near.contains(where: { $0.contains("//") }) else { return nil }
      return file.violation(
        line, "a door around the compiler's checks has its proof beside it", "no comment near it",
        cure: "say in the lines above why no two threads can meet here")
    }
  }

  /// A quote is sought as a byte or scalar: before a combining mark it is no `Character`.
  static func quotesAsCharacters(in file: SourceFile) -> [Violation] {
    let quotes = ["\"'\"", "\"''\"", "\"\\\"\"", "\"\\\"\\\"\""]
    let seekers = [
      "separator: ", "of: ", "contains(", "hasPrefix(", "hasSuffix(", "replacing(",
    ]
    return file.text.lines.enumerated().flatMap { number, line in
      quotes.filter { quote in
        !line.contains("scalars") && !line.contains("unicodeScalars")
          && seekers.contains { line.contains($0 + quote) }
      }.map {
        file.violation(
          number + 1, "a quote is no Character", "\($0) sought in a String",
          cure: "seek its byte in utf8; to write it twice, doubling(_:), quoted(_:), quotedText(_:)"
        )
      }
    }
  }

  static func tooLong(in file: SourceFile, exceptions: Set<String>) -> [Violation] {
    let limit = 400
    let count = file.text.lines.count
    guard count > limit + 1, !exceptions.contains(file.path) else { return [] }
    return [
      file.violation(
        limit + 1, "a file over \(limit) lines is two ideas", "\(count - 1) lines",
        cure: "give the second idea a file of its own, named after it")
    ]
  }

  static func localPaths(path: String, lines: [String]) -> [Violation] {
    let places = ["work/", "home/", "Users/", "root/"].map { "/" + $0 }
    return lines.enumerated().flatMap { number, line in
      // Most lines hold none; the system's search says so quickly.
      places.filter { place in
        strstr(line, place) != nil
          && line.ranges(of: place).contains { range in
            let before = line[..<range.lowerBound].last
            return before.map { !$0.isLetter && !$0.isNumber && !"._-~/}".contains($0) } ?? true
          }
      }.map {
        Violation(
          file: path, line: number + 1, rule: "no path of one machine is written down",
          found: "\($0)…", cure: "reach it from #filePath, an argument or the environment")
      }
    }
  }
}
