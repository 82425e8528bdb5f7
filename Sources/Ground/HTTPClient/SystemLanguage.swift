#if canImport(Glibc)
  import Glibc
#else
  import Foundation
#endif

/// The language in which the user of this machine wants texts.
public enum SystemLanguage {
  /// As `de` or `pt-BR`; nil where the system names none.
  public static var preferred: String? {
    #if canImport(Glibc)
      for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
        if let value = getenv(name), value.pointee != 0 { return tag(String(cString: value)) }
      }
      return nil
    #else
      return Locale.preferredLanguages.first
    #endif
  }

  /// The tag for a name of POSIX, such as `de_DE.UTF-8`; nil for `C` and what is no language.
  static func tag(_ name: String) -> String? {
    let plain = name.prefix { $0 != "." && $0 != "@" }
    let parts = plain.split(separator: "_")
    guard let language = parts.first, (2...3).contains(language.utf8.count),
      parts.allSatisfy({
        $0.utf8.allSatisfy { $0 >= 0x41 && $0 <= 0x5A || $0 >= 0x61 && $0 <= 0x7A }
      })
    else { return nil }
    return parts.joined(separator: "-")
  }
}
