@_exported import enum FerryModel.AttributeValue
// What an app names of the model's module, so that it needs no second import. Descriptions of models
// (Package, Entity, Attribute) and the generator's tools need `import FerryModel`.
@_exported import struct FerryModel.BigInteger
@_exported import struct FerryModel.BigReference
@_exported import struct FerryModel.LocalDate
@_exported import struct FerryModel.LocalDateTime
@_exported import struct FerryModel.LocalTime
@_exported import struct FerryModel.ObjectKey
@_exported import struct FerryModel.OperationID
@_exported import enum FerryModel.OperationKind
