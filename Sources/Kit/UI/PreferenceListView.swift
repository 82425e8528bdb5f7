#if canImport(SwiftUI)
  public import SwiftUI

  /// A screen of preferences: the user changes values and takes defaults back.
  ///
  /// ```swift
  /// PreferenceListView(try PreferenceList(preferences, keys: [theme.erased] + KnownPreferences.all))
  /// ```
  public struct PreferenceListView: View {
    @State private var list: PreferenceList

    /// Shows the list, which the view keeps as long as it is there.
    public init(_ list: PreferenceList) { _list = State(wrappedValue: list) }

    public var body: some View {
      List {
        ForEach(list.sections) { section in
          Section(section.name) {
            ForEach(section.rows) { row in PreferenceRowView(list: list, row: row) }
          }
        }
      }
    }
  }

  /// One row: a switch for a truth value, else a text that is stored when the user ends it.
  struct PreferenceRowView: View {
    let list: PreferenceList
    let row: PreferenceList.Row
    @State private var typed: String

    init(list: PreferenceList, row: PreferenceList.Row) {
      self.list = list
      self.row = row
      _typed = State(wrappedValue: row.text)
    }

    var body: some View {
      VStack(alignment: .leading) {
        if row.typeName == "bool" {
          Toggle(
            row.name,
            isOn: Binding(
              get: { row.text == "true" }, set: { list.set(row.name, to: $0 ? "true" : "false") }))
        } else {
          Text(row.name)
          TextField(row.defaultText, text: $typed)
            .onSubmit { list.set(row.name, to: typed) }
            .onChange(of: row.text) { typed = row.text }
        }
        if let problem = row.problem { Text(problem).font(.caption) }
        if row.isSet {
          Button("↺ " + row.defaultText) {
            list.reset(row.name)
            typed = row.defaultText
          }
        }
      }
    }
  }
#endif
