import Glibc

/// libldap, opened when it is first needed: a server without a directory needs no such library.
///
/// Its functions may be called from several threads, each with a connection of its own.
struct DirectoryLibrary: Sendable {
  typealias Handle = OpaquePointer
  typealias Message = OpaquePointer

  /// `struct berval`.
  struct Bytes {
    var count: UInt
    var start: UnsafeMutablePointer<CChar>?
  }

  typealias Initialize =
    @convention(c) @Sendable (UnsafeMutablePointer<Handle?>, UnsafePointer<CChar>) -> Int32
  typealias SetOption = @convention(c) @Sendable (Handle?, Int32, UnsafeRawPointer?) -> Int32
  typealias StartTLS = @convention(c) @Sendable (Handle, OpaquePointer?, OpaquePointer?) -> Int32
  typealias Bind =
    @convention(c) @Sendable (
      Handle, UnsafePointer<CChar>, UnsafePointer<CChar>?, UnsafeMutableRawPointer, OpaquePointer?,
      OpaquePointer?, OpaquePointer?
    ) -> Int32
  typealias Search =
    @convention(c) @Sendable (
      Handle, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, Int32, OpaquePointer?, OpaquePointer?,
      UnsafeMutablePointer<timeval>?, Int32, UnsafeMutablePointer<Message?>
    ) -> Int32
  typealias NextEntry = @convention(c) @Sendable (Handle, Message) -> Message?
  typealias Name = @convention(c) @Sendable (Handle, Message) -> UnsafeMutablePointer<CChar>?
  typealias Values =
    @convention(c) @Sendable (Handle, Message, UnsafePointer<CChar>) -> UnsafeMutablePointer<
      UnsafeMutableRawPointer?
    >?
  typealias FreeValues =
    @convention(c) @Sendable (UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Void
  typealias FreeText = @convention(c) @Sendable (UnsafeMutableRawPointer) -> Void
  typealias FreeMessage = @convention(c) @Sendable (Message) -> Int32
  typealias Unbind = @convention(c) @Sendable (Handle, OpaquePointer?, OpaquePointer?) -> Int32
  typealias Text = @convention(c) @Sendable (Int32) -> UnsafePointer<CChar>?

  let initialize: Initialize
  let setOption: SetOption
  let startTLS: StartTLS
  let bind: Bind
  let search: Search
  let firstEntry: NextEntry
  let nextEntry: NextEntry
  let name: Name
  let values: Values
  let freeValues: FreeValues
  let freeText: FreeText
  let freeMessage: FreeMessage
  let unbind: Unbind
  let text: Text

  /// Nil where the library is not installed.
  static let shared: DirectoryLibrary? = DirectoryLibrary()

  private init?() {
    let names = ["libldap-2.5.so.0", "libldap.so.2", "libldap_r-2.4.so.2"]
    guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
      return nil
    }
    func find<Function>(_ name: String, _ type: Function.Type) -> Function? {
      dlsym(library, name).map { unsafeBitCast($0, to: type) }
    }
    guard
      let initialize = find("ldap_initialize", Initialize.self),
      let setOption = find("ldap_set_option", SetOption.self),
      let startTLS = find("ldap_start_tls_s", StartTLS.self),
      let bind = find("ldap_sasl_bind_s", Bind.self),
      let search = find("ldap_search_ext_s", Search.self),
      let firstEntry = find("ldap_first_entry", NextEntry.self),
      let nextEntry = find("ldap_next_entry", NextEntry.self),
      let name = find("ldap_get_dn", Name.self),
      let values = find("ldap_get_values_len", Values.self),
      let freeValues = find("ldap_value_free_len", FreeValues.self),
      let freeText = find("ldap_memfree", FreeText.self),
      let freeMessage = find("ldap_msgfree", FreeMessage.self),
      let unbind = find("ldap_unbind_ext_s", Unbind.self),
      let text = find("ldap_err2string", Text.self)
    else { return nil }
    (self.initialize, self.setOption, self.startTLS) = (initialize, setOption, startTLS)
    (self.bind, self.search, self.unbind, self.text) = (bind, search, unbind, text)
    (self.firstEntry, self.nextEntry, self.name) = (firstEntry, nextEntry, name)
    (self.values, self.freeValues) = (values, freeValues)
    (self.freeText, self.freeMessage) = (freeText, freeMessage)
  }
}
