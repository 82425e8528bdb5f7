/// The JSON Schema of a mapping, by which editors complete and check it.
public enum RESTMappingSchema {
  public static let fileName: String = "rest.schema.json"

  public static let text: String = """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "How a service of REST has the objects of a model",
      "type": "object",
      "required": ["entities"],
      "additionalProperties": false,
      "patternProperties": {"^\\\\$": true},
      "properties": {
        "service": {"type": "string", "format": "uri", "description": "The service's address, where it is not that of --database."},
        "headers": {"$ref": "#/$defs/headers"},
        "credential": {
          "type": "object", "additionalProperties": false,
          "description": "Where the one credential of the connection is; never the secret itself.",
          "properties": {
            "header": {"type": "string", "description": "The name of a header that takes a key."},
            "basic": {"type": "string", "description": "The user's name."},
            "bearer": {"const": true},
            "file": {"type": "string", "description": "The file of the secret; a relative name is beside the mapping."},
            "environment": {"type": "string", "description": "The variable with the secret."}
          }
        },
        "requestsPerSecond": {"type": "integer", "minimum": 1, "maximum": 10000},
        "lateSeconds": {"type": "integer", "minimum": 0, "maximum": 86400, "description": "How long after a lost answer its request may still arrive (120)."},
        "refusals": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "message": {"anyOf": [{"$ref": "#/$defs/path"}, {"type": "array", "items": {"$ref": "#/$defs/path"}}]},
            "code": {"$ref": "#/$defs/path"},
            "attribute": {"$ref": "#/$defs/path"}
          }
        },
        "results": {
          "type": "array",
          "description": "What answers mean that do not say it by their status; the first that matches counts.",
          "items": {
            "type": "object", "additionalProperties": false, "required": ["means"],
            "properties": {
              "status": {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^[1-5](xx|[0-9][0-9])$"}]},
              "header": {"type": "string"},
              "at": {"$ref": "#/$defs/path"},
              "is": {"type": ["string", "number", "boolean"]},
              "means": {"enum": ["success", "warning", "refusal", "later", "lost", "absent", "changed"]},
              "code": {"type": "integer", "minimum": 400, "maximum": 599},
              "textAt": {"$ref": "#/$defs/path"},
              "text": {"type": "string"}
            }
          }
        },
        "absentWithoutDocument": {"type": "boolean", "description": "Whether a 404 without JSON says that the object is not there."},
        "paging": {"$ref": "#/$defs/paging"},
        "pageRows": {"$ref": "#/$defs/pageRows"},
        "rows": {"$ref": "#/$defs/path"},
        "condition": {"$ref": "#/$defs/condition"},
        "entities": {"type": "object", "additionalProperties": {"$ref": "#/$defs/entity"}}
      },
      "$defs": {
        "path": {"type": "string", "description": "A pointer of RFC 6901, such as /address/city; empty: the whole."},
        "address": {"type": "string", "pattern": "^/(?!/)", "description": "A template of RFC 6570, behind the service's address."},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "pageRows": {"type": "integer", "minimum": 1, "maximum": 100000},
        "paging": {
          "anyOf": [
            {"enum": ["none", "link"]},
            {
              "type": "object", "additionalProperties": false,
              "properties": {
                "next": {"$ref": "#/$defs/path"},
                "offset": {"type": "string"}, "limit": {"type": "string"},
                "page": {"type": "string"}, "size": {"type": "string"}, "first": {"enum": [0, 1]},
                "cursor": {"type": "string"}, "at": {"$ref": "#/$defs/path"}
              }
            }
          ]
        },
        "condition": {
          "anyOf": [
            {"enum": ["etag", "unmodifiedSince", "test", "none"]},
            {
              "type": "object", "additionalProperties": false,
              "properties": {"etag": {"$ref": "#/$defs/path"}, "version": {"$ref": "#/$defs/path"}}
            }
          ]
        },
        "list": {
          "anyOf": [
            {"$ref": "#/$defs/address"},
            {
              "type": "object", "additionalProperties": false, "required": ["address"],
              "properties": {
                "address": {"$ref": "#/$defs/address"}, "rows": {"$ref": "#/$defs/path"},
                "paging": {"$ref": "#/$defs/paging"}, "pageRows": {"$ref": "#/$defs/pageRows"},
                "count": {"$ref": "#/$defs/path"}
              }
            }
          ]
        },
        "call": {
          "anyOf": [
            {"$ref": "#/$defs/address"},
            {
              "type": "object", "additionalProperties": false, "required": ["address"],
              "properties": {
                "method": {"enum": ["GET", "POST", "PUT", "PATCH", "DELETE"]},
                "address": {"$ref": "#/$defs/address"}, "headers": {"$ref": "#/$defs/headers"},
                "body": {"enum": ["whole", "changed", "merge", "patch", "none"]},
                "bodyAt": {"$ref": "#/$defs/path"}, "row": {"$ref": "#/$defs/path"}
              }
            }
          ]
        },
        "entity": {
          "type": "object", "additionalProperties": false, "required": ["list"],
          "properties": {
            "list": {"$ref": "#/$defs/list"}, "find": {"$ref": "#/$defs/list"},
            "read": {"$ref": "#/$defs/call"}, "create": {"$ref": "#/$defs/call"},
            "update": {"$ref": "#/$defs/call"}, "delete": {"$ref": "#/$defs/call"},
            "condition": {"$ref": "#/$defs/condition"},
            "changedStatus": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 400, "maximum": 499}},
            "memory": {
              "anyOf": [
                {"const": "none"},
                {
                  "type": "object", "additionalProperties": false,
                  "properties": {
                    "header": {"type": "string"}, "hours": {"type": "integer", "minimum": 1, "maximum": 8784},
                    "marker": {"$ref": "#/$defs/path"},
                    "natural": {"type": "array", "minItems": 1, "items": {"type": "string"}}
                  }
                }
              ]
            },
            "changes": {
              "type": "object", "additionalProperties": false, "required": ["address", "field"],
              "properties": {
                "address": {"$ref": "#/$defs/address"}, "rows": {"$ref": "#/$defs/path"},
                "paging": {"$ref": "#/$defs/paging"}, "pageRows": {"$ref": "#/$defs/pageRows"},
                "count": {"$ref": "#/$defs/path"}, "field": {"$ref": "#/$defs/path"},
                "overlapSeconds": {"type": "integer", "minimum": 0, "maximum": 86400}
              }
            },
            "deletes": {
              "anyOf": [
                {"const": "comparison"},
                {
                  "type": "object", "additionalProperties": false,
                  "properties": {
                    "flag": {"$ref": "#/$defs/path"},
                    "address": {"$ref": "#/$defs/address"}, "rows": {"$ref": "#/$defs/path"},
                    "paging": {"$ref": "#/$defs/paging"}, "pageRows": {"$ref": "#/$defs/pageRows"},
                    "key": {"type": "array", "items": {"$ref": "#/$defs/path"}}
                  }
                }
              ]
            },
            "fields": {
              "type": "object",
              "additionalProperties": {
                "anyOf": [
                  {"$ref": "#/$defs/path"},
                  {
                    "type": "object", "additionalProperties": false,
                    "properties": {
                      "at": {"$ref": "#/$defs/path"},
                      "form": {"enum": ["plain", "text", "utc", "local", "epochSeconds", "epochMilliseconds", "compact", "httpDate"]},
                      "true": {"type": ["string", "number"]}, "false": {"type": ["string", "number"]},
                      "address": {"type": "string", "pattern": "\\\\{value\\\\}"},
                      "readOnly": {"type": "boolean"}
                    }
                  }
                ]
              }
            },
            "constants": {"type": "object"}
          }
        }
      }
    }

    """
}
