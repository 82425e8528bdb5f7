#if canImport(SwiftUI)
  import FerryLogger
  public import SwiftUI

  /// A list of log records: the user chooses the level, picks records and sends them as text.
  ///
  /// ```swift
  /// LogListView(LogList(log, atLeast: .info, language: LogLanguage(preferred: Locale.preferredLanguages)))
  /// ```
  public struct LogListView: View {
    @State private var list: LogList

    /// Shows the list, which the view keeps as long as it is there.
    public init(_ list: LogList) { _list = State(wrappedValue: list) }

    public var body: some View {
      List {
        Section {
          Picker(list.text(.level), selection: $list.severity) {
            ForEach(LogSeverity.allCases, id: \.self) { level in Text(level.name).tag(level) }
          }
          Button(list.text(.selectAll)) { list.pickAll() }
          if list.hasPicked {
            ShareLink(item: list.export.text) { Text(list.text(.export)) }
          }
          Button(list.text(.clear), role: .destructive) { list.clear() }
        }
        Section {
          ForEach(list.rows) { row in
            Button {
              list.pick(row.id)
            } label: {
              Text((row.isPicked ? "✓ " : "") + row.text).font(.caption)
            }
            .accessibilityHint(Text(list.text(.selectHint)))
          }
        }
      }
      .refreshable { list.refresh() }
      .task { list.refresh() }
    }
  }
#endif
