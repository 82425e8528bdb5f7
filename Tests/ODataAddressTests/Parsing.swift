import FerryOData
import FerryODataAddress

/// Shorthand of these tests.
func parsed(_ uri: String, _ version: ODataVersion = .v4) throws -> ODataAddress {
  try ODataAddress(parsing: uri, ODataAddressSettings(version: version))
}

func condition(_ text: String, _ version: ODataVersion = .v4) throws -> ODataExpression {
  try ODataExpression(parsing: text, ODataAddressSettings(version: version))
}

/// The column at which an address is refused; nil where it is read.
func refusal(_ uri: String, _ version: ODataVersion = .v4) -> Int? {
  do {
    _ = try ODataAddress(parsing: uri, ODataAddressSettings(version: version))
    return nil
  } catch { return error.place?.column ?? 0 }
}

func fault(_ body: () throws(ODataError) -> Void) -> ODataError? {
  do {
    try body()
    return nil
  } catch { return error }
}
