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
        "service": {
          "type": "string",
          "format": "uri",
          "description": "Where the service begins, if that is below the host that the server names. Another host is not followed."
        },
        "headers": {
          "$ref": "#/$defs/headers",
          "description": "What each request carries beside what Ferry sends. No secrets: see `credential`."
        },
        "credential": {
          "type": "object",
          "additionalProperties": false,
          "description": "What all requests log in with. A connections file can say more, and then this is left out.",
          "properties": {
            "header": {"type": "string", "description": "The name of a header that takes a key."},
            "basic": {"type": "string", "description": "The user's name, for Basic login."},
            "bearer": {"const": true, "description": "`true`: the secret is a token."},
            "file": {"type": "string", "description": "The file of the secret; a relative name is beside the mapping."},
            "environment": {"type": "string", "description": "The variable of `ferryd` with the secret."}
          }
        },
        "requestsPerSecond": {
          "type": "integer",
          "minimum": 1,
          "maximum": 10000,
          "description": "How many requests may leave in a second."
        },
        "lateSeconds": {
          "type": "integer",
          "minimum": 0,
          "maximum": 86400,
          "description": "How long after a lost answer its request may still arrive (120)."
        },
        "refusals": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "message": {
              "anyOf": [{"$ref": "#/$defs/path"}, {"type": "array", "items": {"$ref": "#/$defs/path"}}],
              "description": "Where the sentence is; several paths are tried in their order."
            },
            "code": {"$ref": "#/$defs/path", "description": "Where the service's own code is."},
            "attribute": {"$ref": "#/$defs/path", "description": "Where the name or the pointer of the field is."}
          },
          "description": "Where the sentences for users are in refusals, if Ferry does not find them."
        },
        "results": {
          "type": "array",
          "description": "What answers mean that do not say it by their status. The first rule that matches counts.",
          "items": {"$ref": "#/$defs/rule"}
        },
        "absentWithoutDocument": {
          "type": "boolean",
          "description": "`true`: a 404 without JSON says that the object is not there. Otherwise it may be a proxy's."
        },
        "paging": {"$ref": "#/$defs/paging", "description": "For all lists that say nothing of their own."},
        "pageRows": {"$ref": "#/$defs/pageRows", "description": "How many rows an answer is asked for (500), for all lists."},
        "rows": {"$ref": "#/$defs/path", "description": "Where the rows are in answers, for all lists."},
        "condition": {
          "$ref": "#/$defs/condition",
          "description": "What holds a write back if somebody else changed the object, for all entities (`etag`)."
        },
        "entities": {
          "type": "object",
          "additionalProperties": {"$ref": "#/$defs/entity"},
          "description": "Each entity of the model by its name."
        }
      },
      "$defs": {
        "path": {"type": "string", "description": "A pointer of RFC 6901, such as /address/city; empty: the whole."},
        "address": {
          "type": "string",
          "pattern": "^/(?!/)",
          "description": "A template of RFC 6570, behind the service's address."
        },
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "rule": {
          "type": "object",
          "additionalProperties": false,
          "required": ["means"],
          "properties": {
            "for": {
              "anyOf": [
                {"enum": ["create", "update", "delete"]},
                {"type": "array", "minItems": 1, "items": {"enum": ["create", "update", "delete"]}}
              ],
              "description": "Only answers to these changes; without it all, and answers to readings too."
            },
            "status": {
              "anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^[1-5](xx|[0-9][0-9])$"}],
              "description": "A number, or `4xx`; without it any."
            },
            "header": {"type": "string", "description": "A header that is there, or has the value of `is`."},
            "at": {
              "$ref": "#/$defs/path",
              "description": "A place in the answer that has something, or the value of `is`."
            },
            "is": {
              "type": ["string", "number", "boolean", "array"],
              "description": "The value, or a list of values: one of them."
            },
            "means": {
              "enum": ["success", "warning", "refusal", "failure", "later", "lost", "absent", "changed"],
              "description": "What such an answer means."
            },
            "code": {
              "type": "integer",
              "minimum": 400,
              "maximum": 599,
              "description": "The code for the app: of a `refusal` (412), of a `failure` (500)."
            },
            "textAt": {"$ref": "#/$defs/path", "description": "Where the sentence for the user is; of a `warning` also a list of sentences."},
            "text": {"type": "string", "description": "The sentence itself."}
          }
        },
        "pageRows": {"type": "integer", "minimum": 1, "maximum": 100000},
        "paging": {
          "anyOf": [
            {"enum": ["none", "link"]},
            {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "next": {"$ref": "#/$defs/path", "description": "The path of the next page's address in the answer."},
                "offset": {"type": "string", "description": "The parameter that takes the place of the first row."},
                "limit": {"type": "string", "description": "The parameter that takes how many rows."},
                "page": {"type": "string", "description": "The parameter that takes the page's number."},
                "size": {"type": "string", "description": "The parameter that takes the rows of a page."},
                "first": {"enum": [0, 1], "description": "The number of the first page (1)."},
                "cursor": {"type": "string", "description": "The parameter that takes the text at `at`."},
                "at": {"$ref": "#/$defs/path", "description": "Where an answer has the next cursor."}
              }
            }
          ]
        },
        "condition": {
          "anyOf": [
            {"enum": ["etag", "unmodifiedSince", "test", "none"]},
            {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "etag": {"$ref": "#/$defs/path", "description": "Where the object has its ETag."},
                "version": {
                  "$ref": "#/$defs/path",
                  "description": "Where the object has its version, which is sent back in the body."
                }
              }
            }
          ]
        },
        "list": {
          "anyOf": [
            {"$ref": "#/$defs/address"},
            {
              "type": "object",
              "additionalProperties": false,
              "required": ["address"],
              "properties": {
                "address": {
                  "$ref": "#/$defs/address",
                  "description": "Behind the service's address; `{limit}` is `pageRows`."
                },
                "rows": {"$ref": "#/$defs/path", "description": "Where the list is in the answer; empty: the whole."},
                "paging": {"$ref": "#/$defs/paging", "description": "How the rows behind the first answer are asked for."},
                "pageRows": {"$ref": "#/$defs/pageRows", "description": "How many rows an answer is asked for."},
                "count": {
                  "$ref": "#/$defs/path",
                  "description": "Where the answer says how many rows there are: fewer are an error."
                }
              }
            }
          ]
        },
        "call": {
          "anyOf": [
            {"$ref": "#/$defs/address"},
            {
              "type": "object",
              "additionalProperties": false,
              "required": ["address"],
              "properties": {
                "method": {
                  "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"],
                  "description": "GET to read, POST to create, PATCH to update, DELETE to delete if not said."
                },
                "address": {"$ref": "#/$defs/address", "description": "With the attributes of the key in braces."},
                "headers": {"$ref": "#/$defs/headers", "description": "What this request carries beside the others."},
                "body": {
                  "enum": ["whole", "changed", "merge", "patch", "none"],
                  "description": "`whole`: as it was read, with the changes; `changed`; `merge` (RFC 7396); `patch` (RFC 6902); `none`."
                },
                "bodyAt": {"$ref": "#/$defs/path", "description": "Where in the body the object is."},
                "row": {"$ref": "#/$defs/path", "description": "Where in the answer the row is."}
              }
            }
          ]
        },
        "entity": {
          "type": "object",
          "additionalProperties": false,
          "anyOf": [{"required": ["list"]}, {"required": ["perform"]}],
          "properties": {
            "perform": {
              "$ref": "#/$defs/call",
              "description": "Of an operation of the model: one request without rows. Only `memory`, `fields`, `constants` and `results` belong to it."
            },
            "list": {"$ref": "#/$defs/list", "description": "Where all objects are listed."},
            "find": {
              "$ref": "#/$defs/list",
              "description": "A list with `{marker}` or attributes in its address, by which a created object is found again."
            },
            "read": {"$ref": "#/$defs/call", "description": "One object."},
            "create": {"$ref": "#/$defs/call", "description": "A new object."},
            "update": {"$ref": "#/$defs/call", "description": "A change of one object."},
            "delete": {"$ref": "#/$defs/call", "description": "Deletes one object."},
            "condition": {
              "$ref": "#/$defs/condition",
              "description": "What holds a write back if somebody else changed the object."
            },
            "changedStatus": {
              "type": "array",
              "minItems": 1,
              "items": {"type": "integer", "minimum": 400, "maximum": 499},
              "description": "Answers that mean that somebody else changed it (412 and 428; for versions also 409)."
            },
            "memory": {
              "anyOf": [
                {"const": "none"},
                {
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "header": {"type": "string", "description": "The header that takes the number of the request."},
                    "hours": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 8784,
                      "description": "How long the service knows it (24)."
                    },
                    "marker": {
                      "$ref": "#/$defs/path",
                      "description": "A field that takes the number of the operation; needs `find`."
                    },
                    "natural": {
                      "type": "array",
                      "minItems": 1,
                      "items": {"type": "string"},
                      "description": "Attributes that no other object has; needs `find`."
                    }
                  }
                }
              ],
              "description": "How a create whose answer was lost is known again."
            },
            "changes": {
              "type": "object",
              "additionalProperties": false,
              "required": ["address", "field"],
              "properties": {
                "address": {"$ref": "#/$defs/address", "description": "With `{since}`."},
                "rows": {"$ref": "#/$defs/path", "description": "Where the list is."},
                "paging": {"$ref": "#/$defs/paging", "description": "As of a list."},
                "pageRows": {"$ref": "#/$defs/pageRows", "description": "As of a list."},
                "count": {"$ref": "#/$defs/path", "description": "As of a list."},
                "field": {
                  "$ref": "#/$defs/path",
                  "description": "Where a row has the time, or the number, of its last change."
                },
                "overlapSeconds": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 86400,
                  "description": "How much of the time before is asked for again (60)."
                }
              },
              "description": "A list of what was changed since."
            },
            "deletes": {
              "anyOf": [
                {"const": "comparison"},
                {
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "flag": {"$ref": "#/$defs/path", "description": "A field that says that the object is deleted."},
                    "address": {
                      "$ref": "#/$defs/address",
                      "description": "A list of deleted objects with `{since}`; needs `changes`."
                    },
                    "rows": {"$ref": "#/$defs/path", "description": "Where that list is."},
                    "paging": {"$ref": "#/$defs/paging", "description": "As of a list."},
                    "pageRows": {"$ref": "#/$defs/pageRows", "description": "As of a list."},
                    "key": {
                      "type": "array",
                      "items": {"$ref": "#/$defs/path"},
                      "description": "Where the parts of the key are."
                    }
                  }
                }
              ],
              "description": "How deleted objects are found (`comparison`)."
            },
            "fields": {
              "type": "object",
              "additionalProperties": {
                "anyOf": [
                  {"$ref": "#/$defs/path"},
                  {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                      "at": {"$ref": "#/$defs/path", "description": "Where it is in the object."},
                      "form": {
                        "enum": [
                          "plain",
                          "text",
                          "utc",
                          "local",
                          "epochSeconds",
                          "epochMilliseconds",
                          "compact",
                          "httpDate"
                        ],
                        "description": "How it is written."
                      },
                      "true": {"type": ["string", "number"], "description": "What means true."},
                      "false": {"type": ["string", "number"], "description": "What means false."},
                      "address": {
                        "type": "string",
                        "pattern": "\\\\{value\\\\}",
                        "description": "What is around it, such as `/customers/{value}`."
                      },
                      "readOnly": {"type": "boolean", "description": "`true`: it is never sent."}
                    }
                  }
                ]
              },
              "description": "Each attribute that is not where the model's `column` says, or not in JSON's own form."
            },
            "results": {
              "type": "array",
              "items": {"$ref": "#/$defs/rule"},
              "description": "Rules for the answers about this entity. They come before those of the mapping."
            },
            "constants": {"type": "object", "description": "What each create carries beside the attributes, by paths."}
          }
        }
      }
    }

    """
}
