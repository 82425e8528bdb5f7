/// The JSON Schema of a file of policies, by which editors complete and check it.
package enum PolicySchema {
  package static let fileName: String = "policies.schema.json"

  package static let text: String = """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "When the server asks the business system for the rows of a package",
      "type": "object",
      "additionalProperties": false,
      "patternProperties": {"^\\\\$": true},
      "properties": {
        "groups": {
          "type": "object",
          "description": "Cache groups by their names. Entities of no group are followed as their connector can.",
          "additionalProperties": {"$ref": "#/$defs/group"}
        },
        "operations": {
          "type": "object",
          "description": "By entity, or by entity and operation: what becomes of the server's copy of a row after an operation on it was performed.",
          "additionalProperties": {
            "anyOf": [
              {"$ref": "#/$defs/policy"},
              {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "create": {"$ref": "#/$defs/policy"},
                  "update": {"$ref": "#/$defs/policy"},
                  "delete": {"$ref": "#/$defs/policy"}
                }
              }
            ]
          }
        },
        "conflicts": {
          "type": "object",
          "description": "By entity: what happens where a change and one of somebody else are of the same attribute.",
          "additionalProperties": {
            "anyOf": [
              {"$ref": "#/$defs/rule"},
              {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "default": {"$ref": "#/$defs/rule"},
                  "attributes": {"type": "object", "additionalProperties": {"$ref": "#/$defs/rule"}}
                }
              }
            ]
          }
        }
      },
      "$defs": {
        "policy": {"enum": ["result", "parameters", "invalidate", "none"], "description": "result: as the business system has it; parameters: it takes the values of the operation; invalidate: as result, and its cache group is read again; none: it stays as it was until its cache group is read."},
        "rule": {"enum": ["refuse", "serverWins", "deviceWins"], "description": "refuse: the user gets both values; serverWins: the rest of the change is made; deviceWins: the change is written over the other."},
        "time": {"type": "string", "pattern": "^[0-9]+ *(s|min|h|days)$"},
        "group": {
          "type": "object",
          "additionalProperties": false,
          "required": ["entities", "refresh"],
          "properties": {
            "entities": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "Entities that are read together; each is in one group at most."},
            "refresh": {"enum": ["onDemand", "scheduled", "notice"]},
            "interval": {"$ref": "#/$defs/time", "description": "onDemand: how old rows may be when a device asks; 0 s: they are read each time."},
            "every": {"$ref": "#/$defs/time", "description": "scheduled: the time between two loads."},
            "at": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?$"}, "description": "scheduled: hours of the day."},
            "days": {"type": "array", "minItems": 1, "items": {"enum": ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]}, "description": "with at: the days of the week (all)."},
            "zone": {"type": "string", "description": "with at: the time zone (UTC), such as Europe/Zurich."},
            "wait": {"$ref": "#/$defs/time", "description": "How long a device waits for a load at most (60 s)."}
          }
        }
      }
    }

    """
}
