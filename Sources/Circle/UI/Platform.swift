import Ferry

// All that differs between the platforms. Where there is no SwiftUI, stand-ins for the few names that
// Live needs let its logic be compiled and tested.
#if canImport(SwiftUI)
  public import SwiftUI

  package typealias ViewProperty = DynamicProperty
  package typealias ViewState<Value> = State<Value>
  package typealias ViewEnvironment<Value> = Environment<Value>

  extension View {
    /// Gives the views below a database for their `Live` properties; nil while it is being opened.
    public func ferryDatabase(_ database: FerryDatabase?) -> some View {
      environment(\.liveDatabase, LiveDatabase(database))
    }
  }

  private struct LiveDatabaseKey: EnvironmentKey {
    static let defaultValue = LiveDatabase.missing
  }

  extension EnvironmentValues {
    package var liveDatabase: LiveDatabase {
      get { self[LiveDatabaseKey.self] }
      set { self[LiveDatabaseKey.self] = newValue }
    }
  }
#else
  package protocol ViewProperty {
    mutating func update()
  }

  @propertyWrapper package struct ViewState<Value> {
    package var wrappedValue: Value
    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  }

  @propertyWrapper package struct ViewEnvironment<Value> {
    private let path: KeyPath<ViewValues, Value>
    package var wrappedValue: Value { ViewValues.current[keyPath: path] }
    package init(_ path: KeyPath<ViewValues, Value>) { self.path = path }
  }

  /// What the views above give to those below.
  package struct ViewValues: Sendable {
    @TaskLocal package static var current = ViewValues()
    package var liveDatabase = LiveDatabase.missing
    package init() {}
  }
#endif
