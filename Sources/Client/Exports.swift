// An app that imports Ferry speaks of packages, entities, keys and values without a second import.
@_exported import FerryModel
