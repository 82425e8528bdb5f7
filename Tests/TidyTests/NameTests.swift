import Testing

@Suite("The names")
struct NameTests {
  @Test("No two files, folders, targets or products differ only by case")
  func sameButForCase() {
    expectNone(
      NameRules.sameButForCase(House.paths, kind: "path", file: "Package.swift")
        + NameRules.sameButForCase(
          House.map.targets.map(\.name), kind: "target", file: "Package.swift")
        + NameRules.products(in: House.map))
  }

  @Test("No type is named like a module")
  func types() {
    let modules = Set(House.map.targets.map(\.name))
    expectNone(
      House.sources.flatMap { NameRules.typesNamedLikeModules(in: $0, modules: modules) })
  }

  @Test("No type is a Manager, Helper, Util, Common, Impl or Base")
  func words() { expectNone(House.files.flatMap(NameRules.forbiddenWords)) }

  @Test("Every Decision has a number")
  func decisions() {
    let folder = "Documentation/Decisions/"
    let files = House.paths.filter { $0.hasPrefix(folder) }.map { path in
      let first = House.read(path).split(separator: "\n").first.map(String.init) ?? ""
      return (name: String(path.dropFirst(folder.count)), firstLine: first)
    }
    #expect(!files.isEmpty)
    expectNone(NameRules.decisions(files))
  }

  @Test("Every Decision is in the index by subject, once")
  func index() {
    let folder = "Documentation/Decisions/"
    let names = House.paths.filter { $0.hasPrefix(folder) }.map { $0.dropFirst(folder.count) }
    let index = House.read("Documentation/Decisions.md")
    let wrong = names.filter { index.components(separatedBy: "(Decisions/\($0))").count != 2 }
    #expect(wrong.isEmpty, "write them into Documentation/Decisions.md, under their subject")
  }
}

@Suite("The names can fail")
struct NameRulesTests {
  @Test("Names that differ only by case are found")
  func sameButForCase() {
    let paths = NameRules.sameButForCase(
      ["Sources/Circle/Wire", "Sources/Circle/wire", "Sources/Ground/World"], kind: "path",
      file: "Package.swift")
    #expect(paths.map(\.found) == ["path Sources/Circle/wire beside Sources/Circle/Wire"])
  }

  @Test("Products that clash are found, an executable and its own target do not clash")
  func products() {
    let map = PackageMap(
      """
      let tools: [Target] = [program("Ferryd", "a", []), program("Tool", "b", [])]
      var products: [Product] = [
        .executable(name: "ferryd", targets: ["Ferryd"]), .executable(name: "tool", targets: ["X"]),
      ]
      """)
    #expect(NameRules.products(in: map).map(\.found) == ["executable tool beside Tool"])
  }

  @Test("A type named like a module, or after nothing, is found")
  func types() {
    let file = SourceFile(
      path: "Sources/Circle/Device/A.swift",
      "public enum Ferry {}\nstruct RowHelper { enum Wire {} }")
    let modules: Set = ["Ferry", "Wire"]
    #expect(NameRules.typesNamedLikeModules(in: file, modules: modules).map(\.found) == ["Ferry"])
    #expect(NameRules.forbiddenWords(in: file).map(\.found) == ["RowHelper"])
  }

  @Test("A Decision without number, with one twice, or with another in its title, is found")
  func decisions() {
    let found = NameRules.decisions([
      ("0001-a.md", "# 0001. A"), ("0001-b.md", "# 0001. B"), ("0003-c.md", "# 3 C"),
      ("d.md", "# D"),
    ])
    #expect(
      found.map(\.found) == [
        "0001 is taken", "the title is # 3 C", "no number",
      ])
  }
}
