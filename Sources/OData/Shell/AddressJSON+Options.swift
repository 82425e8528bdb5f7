import FerryJSON
import FerryOData
import FerryODataAddress

extension AddressJSON {
  mutating func options(_ options: ODataQueryOptions) throws(ODataError) {
    writer.beginObject()
    if let filter = options.filter {
      writer.key("filter")
      try expression(filter)
    }
    if let search = options.search {
      writer.key("search")
      self.search(search)
    }
    try lists(options)
    for (name, number) in [
      ("top", options.top), ("skip", options.skip), ("index", options.index),
    ] {
      if let number { writer.field(name, number) }
    }
    if let count = options.count {
      writer.key("count")
      writer.boolean(count)
    }
    switch options.levels {
    case .exactly(let number)?: writer.field("levels", String(number))
    case .max?: writer.field("levels", "max")
    case nil: break
    }
    let texts = [
      ("format", options.format), ("skipToken", options.skipToken),
      ("deltaToken", options.deltaToken), ("id", options.id),
      ("schemaVersion", options.schemaVersion),
    ]
    for (name, text) in texts {
      if let text { writer.field(name, text) }
    }
    if !options.aliases.isEmpty { try named("aliases", options.aliases) }
    if !options.custom.isEmpty {
      writer.key("custom")
      writer.array(options.custom) { writer, option in
        writer.beginObject()
        writer.field("name", option.name)
        if let value = option.value { writer.field("value", value) }
        writer.endObject()
      }
    }
    writer.endObject()
  }

  private mutating func lists(_ options: ODataQueryOptions) throws(ODataError) {
    if !options.orderBy.isEmpty {
      try list("orderBy", options.orderBy) { (json, order) throws(ODataError) in
        json.writer.key("expression")
        try json.expression(order.expression)
        json.writer.key("descending")
        json.writer.boolean(order.isDescending)
      }
    }
    if !options.compute.isEmpty {
      try list("compute", options.compute) { (json, item) throws(ODataError) in
        json.writer.field("name", item.name)
        json.writer.key("expression")
        try json.expression(item.expression)
      }
    }
    if !options.select.isEmpty {
      try list("select", options.select) { (json, item) throws(ODataError) in
        json.writer.key("path")
        json.strings(item.path)
        if let parameters = item.parameters {
          json.writer.key("parameters")
          json.strings(parameters)
        }
        try json.inner(item.options)
      }
    }
    if !options.expand.isEmpty {
      try list("expand", options.expand) { (json, item) throws(ODataError) in
        json.writer.key("path")
        json.strings(item.path)
        let content: [ODataExpandItem.Content: String] = [
          .entities: "entities", .references: "references", .count: "count",
        ]
        json.writer.field("content", content[item.content])
        try json.inner(item.options)
      }
    }
  }

  private mutating func inner(_ options: ODataQueryOptions) throws(ODataError) {
    guard !options.isEmpty else { return }
    writer.key("options")
    try self.options(options)
  }

  private mutating func list<Item>(
    _ key: String, _ items: [Item],
    _ write: (inout AddressJSON, Item) throws(ODataError) -> Void
  ) throws(ODataError) {
    writer.key(key)
    writer.beginArray()
    for item in items {
      writer.beginObject()
      try write(&self, item)
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func search(_ search: ODataSearch) {
    writer.beginObject()
    switch search {
    case .word(let text): said("word", text)
    case .phrase(let text): said("phrase", text)
    case .incomplete(let text): said("incomplete", text)
    case .not(let inner): parts("not", [inner])
    case .and(let all): parts("and", all)
    case .or(let all): parts("or", all)
    }
    writer.endObject()
  }

  private mutating func said(_ kind: String, _ text: String) {
    writer.field("kind", kind)
    writer.field("text", text)
  }

  private mutating func parts(_ kind: String, _ parts: [ODataSearch]) {
    writer.field("kind", kind)
    writer.key("operands")
    writer.beginArray()
    for part in parts { search(part) }
    writer.endArray()
  }
}
