// Written from api/openapi.json by clients/cli/mcp/generate.ts: run 'make generate' after a change.
import type { OperationInput } from "./operation-inputs.ts";

/** Inputs of the operations that tools call. */
export const OPERATIONS = {
  "GET /api/v2/environments": {
    "description": "Lists the environments that are accessible to the current user, newest first.\n\nNeeds the permission `environments:read`.",
    "schema": {
      "type": "object",
      "additionalProperties": false,
      "required": [],
      "properties": {
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "default": 50,
          "description": "Size of the page; default 50, maximum 100."
        },
        "offset": {
          "type": "integer",
          "minimum": 0,
          "maximum": 1000000000,
          "default": 0,
          "description": "Number of results to skip; default 0."
        },
        "status": {
          "type": "string",
          "enum": [
            "creating",
            "building",
            "updating",
            "ready",
            "failed",
            "terminating"
          ],
          "description": "Only environments in this state."
        },
        "search": {
          "type": "string",
          "maxLength": 253,
          "description": "Part of the name, literally; upper and lower case are the same."
        },
        "created_after": {
          "type": "string",
          "maxLength": 64,
          "description": "Created at this moment or later (ISO 8601, extended or basic; UTC without an offset; the + of an offset may be sent as it is)."
        },
        "created_before": {
          "type": "string",
          "maxLength": 64,
          "description": "Created before this moment (ISO 8601, extended or basic; UTC without an offset; the + of an offset may be sent as it is)."
        },
        "sleep": {
          "type": "string",
          "enum": [
            "awake",
            "asleep",
            "waking"
          ],
          "description": "Only environments in this state of sleep. asleep: by a schedule, by idleness, or because a person suspended it."
        }
      }
    },
    "places": {
      "limit": "query",
      "offset": "query",
      "status": "query",
      "search": "query",
      "created_after": "query",
      "created_before": "query",
      "sleep": "query"
    }
  },
  "GET /api/v2/environments/{environment_id}": {
    "description": "The environment, by its id or its name.\n\nNeeds the permission `environments:read`.",
    "schema": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "environment_id"
      ],
      "properties": {
        "environment_id": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "description": "The environment's id, in upper or lower case, or its name."
        }
      }
    },
    "places": {
      "environment_id": "path"
    }
  },
  "POST /api/v2/environments": {
    "description": "Creates an environment: a temporary, isolated instance of a backend and optionally a frontend, in a namespace of its own, until its TTL is over. It answers as soon as the creation has begun, with the status `creating`; the environment is there when its status is `ready`. The body may also be form-encoded, with the same field names and `config_overrides` as JSON. `frontend_branch` and `frontend_commit` mean nothing without `frontend_repo`.\n\nNeeds the permission `environments:create`.",
    "schema": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "environment_name",
        "backend_repo",
        "backend_branch"
      ],
      "properties": {
        "environment_name": {
          "type": "string",
          "minLength": 3,
          "maxLength": 50,
          "pattern": "^[a-z]([a-z0-9-]*[a-z0-9])?$",
          "description": "Unique; a DNS label that starts with a letter, without '--', not reserved."
        },
        "backend_repo": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "description": "Id of a registered repository."
        },
        "backend_branch": {
          "type": "string",
          "minLength": 1,
          "maxLength": 244,
          "pattern": "^[^\\x00-\\x20\\x7f~^:?*\\[\\\\./-][^\\x00-\\x20\\x7f~^:?*\\[\\\\]{0,243}$",
          "description": "Git branch: whatever git takes, 244 bytes of UTF-8 at most, without invisible characters."
        },
        "backend_commit": {
          "type": "string",
          "maxLength": 64,
          "pattern": "^([0-9A-Fa-f]{7,64})?$",
          "description": "Commit SHA; the latest of the branch when empty. A short one of 7 digits or more stands for the head of the named branch and for no other commit: it is resolved once, when the environment is created."
        },
        "frontend_repo": {
          "type": "string",
          "maxLength": 253,
          "description": "Id of a registered repository."
        },
        "frontend_branch": {
          "type": "string",
          "maxLength": 244,
          "pattern": "^$|^[^\\x00-\\x20\\x7f~^:?*\\[\\\\./-][^\\x00-\\x20\\x7f~^:?*\\[\\\\]{0,243}$",
          "description": "Git branch, as backend_branch; the repository's default branch when empty."
        },
        "frontend_commit": {
          "type": "string",
          "maxLength": 64,
          "pattern": "^([0-9A-Fa-f]{7,64})?$",
          "description": "Commit SHA; the latest of the branch when empty. A short one of 7 digits or more stands for the head of the named branch and for no other commit: it is resolved once, when the environment is created."
        },
        "ttl": {
          "type": "integer",
          "minimum": 1,
          "maximum": 168,
          "description": "Hours from creation to deletion. When left out: the default of the config set that is named, if it has one, else 24."
        },
        "provision_database": {
          "type": "boolean",
          "description": "A PostgreSQL of its own; as the config set says, else none, when left out."
        },
        "auto_generate_secrets": {
          "type": "boolean",
          "default": true,
          "description": "False: config_overrides gives every secret of the Repositories, as text or by secretKeyRef."
        },
        "use_shared_api_keys": {
          "type": "boolean",
          "description": "Adds the shared API keys of the config set to the variables of the pods."
        },
        "config_set": {
          "type": "string",
          "maxLength": 253,
          "description": "Id of a config set; the default one, if there is one, when left out."
        },
        "config_overrides": {
          "type": "object",
          "properties": {
            "helm_values": {
              "type": "object",
              "properties": {
                "backend": {
                  "type": "object",
                  "properties": {
                    "env": {
                      "type": "object",
                      "additionalProperties": {
                        "description": "Text, or where the secret manager has it.",
                        "oneOf": [
                          {
                            "type": "string",
                            "maxLength": 32768,
                            "pattern": "^[^\\x00]*$"
                          },
                          {
                            "type": "object",
                            "required": [
                              "secretKeyRef"
                            ],
                            "properties": {
                              "secretKeyRef": {
                                "type": "object",
                                "required": [
                                  "name",
                                  "key"
                                ],
                                "properties": {
                                  "name": {
                                    "type": "string",
                                    "minLength": 1,
                                    "maxLength": 255,
                                    "pattern": "^[A-Za-z0-9_.-]+$"
                                  },
                                  "key": {
                                    "type": "string",
                                    "pattern": "^(latest|[1-9][0-9]{0,8})$",
                                    "description": "A version, or latest: the newest when the environment is made. A version may also be sent as a number."
                                  }
                                },
                                "additionalProperties": false,
                                "description": "A secret of the secret manager that is shared with the environment."
                              }
                            },
                            "additionalProperties": false
                          }
                        ]
                      },
                      "maxProperties": 500,
                      "propertyNames": {
                        "type": "string",
                        "maxLength": 128,
                        "pattern": "^[A-Za-z_][A-Za-z0-9_.-]*$"
                      },
                      "description": "By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager."
                    },
                    "replicas": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 20
                    },
                    "resources": {
                      "type": "object",
                      "properties": {
                        "requests": {
                          "type": "object",
                          "properties": {
                            "cpu": {
                              "type": "string",
                              "maxLength": 32,
                              "pattern": "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
                            },
                            "memory": {
                              "type": "string",
                              "maxLength": 32,
                              "pattern": "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
                            }
                          },
                          "additionalProperties": false
                        },
                        "limits": {
                          "type": "object",
                          "properties": {
                            "cpu": {
                              "type": "string",
                              "maxLength": 32,
                              "pattern": "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
                            },
                            "memory": {
                              "type": "string",
                              "maxLength": 32,
                              "pattern": "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
                            }
                          },
                          "additionalProperties": false
                        }
                      },
                      "additionalProperties": false
                    }
                  },
                  "additionalProperties": true,
                  "maxProperties": 50,
                  "description": "Any other value of the chart only where the Repository lists its path as overridable."
                },
                "frontend": {
                  "type": "object",
                  "properties": {
                    "env": {
                      "type": "object",
                      "additionalProperties": {
                        "description": "Text, or where the secret manager has it.",
                        "oneOf": [
                          {
                            "type": "string",
                            "maxLength": 32768,
                            "pattern": "^[^\\x00]*$"
                          },
                          {
                            "type": "object",
                            "required": [
                              "secretKeyRef"
                            ],
                            "properties": {
                              "secretKeyRef": {
                                "type": "object",
                                "required": [
                                  "name",
                                  "key"
                                ],
                                "properties": {
                                  "name": {
                                    "type": "string",
                                    "minLength": 1,
                                    "maxLength": 255,
                                    "pattern": "^[A-Za-z0-9_.-]+$"
                                  },
                                  "key": {
                                    "type": "string",
                                    "pattern": "^(latest|[1-9][0-9]{0,8})$",
                                    "description": "A version, or latest: the newest when the environment is made. A version may also be sent as a number."
                                  }
                                },
                                "additionalProperties": false,
                                "description": "A secret of the secret manager that is shared with the environment."
                              }
                            },
                            "additionalProperties": false
                          }
                        ]
                      },
                      "maxProperties": 500,
                      "propertyNames": {
                        "type": "string",
                        "maxLength": 128,
                        "pattern": "^[A-Za-z_][A-Za-z0-9_.-]*$"
                      },
                      "description": "By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager."
                    },
                    "replicas": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 20
                    },
                    "resources": {
                      "type": "object",
                      "properties": {
                        "requests": {
                          "type": "object",
                          "properties": {
                            "cpu": {
                              "type": "string",
                              "maxLength": 32,
                              "pattern": "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
                            },
                            "memory": {
                              "type": "string",
                              "maxLength": 32,
                              "pattern": "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
                            }
                          },
                          "additionalProperties": false
                        },
                        "limits": {
                          "type": "object",
                          "properties": {
                            "cpu": {
                              "type": "string",
                              "maxLength": 32,
                              "pattern": "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
                            },
                            "memory": {
                              "type": "string",
                              "maxLength": 32,
                              "pattern": "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$"
                            }
                          },
                          "additionalProperties": false
                        }
                      },
                      "additionalProperties": false
                    }
                  },
                  "additionalProperties": true,
                  "maxProperties": 50,
                  "description": "Any other value of the chart only where the Repository lists its path as overridable."
                }
              },
              "additionalProperties": false
            }
          },
          "additionalProperties": false
        },
        "database_seed": {
          "type": "object",
          "required": [
            "path",
            "format"
          ],
          "properties": {
            "image": {
              "type": "string",
              "minLength": 1,
              "pattern": "^[a-z0-9]([a-z0-9._/:-]*[a-z0-9])?(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$",
              "maxLength": 512,
              "description": "The image that has the file, with a tag or a digest; nothing of it is run. Nodes pull it without the credentials of Repositories."
            },
            "git": {
              "type": "string",
              "enum": [
                "backend"
              ],
              "description": "backend: the file is in the git repository of the backend, at the commit of the environment, and has 1 MiB at most. The platform reads it with the credential of the Repository."
            },
            "path": {
              "type": "string",
              "pattern": "^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$",
              "maxLength": 255,
              "description": "The file in the image or the repository, such as /seed/data.sql."
            },
            "format": {
              "type": "string",
              "enum": [
                "sql",
                "dump"
              ],
              "description": "sql: statements for psql, also compressed as .gz; dump: an archive of pg_dump -Fc for pg_restore."
            }
          },
          "additionalProperties": false,
          "minProperties": 3,
          "maxProperties": 3,
          "description": "Seed of the database; that of the config set, else of the Repository, when left out."
        },
        "database_from": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "description": "Name or id of an environment. The environment whose database the new one is a copy of: taken once by its role, masked, and complete before anything else starts. It has to have a database and to be awake, and everyone who may see the copy has to be allowed to see it."
        },
        "sleep": {
          "type": "object",
          "properties": {
            "schedule": {
              "type": "object",
              "required": [
                "time_zone",
                "awake"
              ],
              "properties": {
                "time_zone": {
                  "type": "string",
                  "maxLength": 64,
                  "pattern": "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
                  "description": "An IANA name; its changes of the clock count."
                },
                "awake": {
                  "type": "array",
                  "items": {
                    "type": "string",
                    "maxLength": 64,
                    "pattern": "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(-(Mon|Tue|Wed|Thu|Fri|Sat|Sun))?(,(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(-(Mon|Tue|Wed|Thu|Fri|Sat|Sun))?){0,6} ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"
                  },
                  "minItems": 1,
                  "maxItems": 14,
                  "description": "The hours in which it is awake, such as `Mon-Fri 08:00-19:00` or `Sat,Sun 10:00-16:00`. Hours that end at or before their begin end on the next day."
                }
              },
              "additionalProperties": false
            },
            "after_idle_minutes": {
              "type": "integer",
              "minimum": 10,
              "maximum": 10080,
              "description": "It sleeps after so long without activity: requests, updates, and people who read its logs. While requests are not known to the platform, nothing is idle."
            },
            "minimum_requests": {
              "type": "integer",
              "minimum": 1,
              "maximum": 10000,
              "description": "The requests within five minutes that count as activity, 1 when left out: more than a monitor sends, which would keep it awake. Only beside `after_idle_minutes`."
            }
          },
          "additionalProperties": false,
          "description": "Outside the hours of the schedule, and when it was idle, the environment is scaled to zero; secrets and data stay. An empty object: it never sleeps. When the field is left out, the default counts: that of the config set, of the backend's repository, or of the platform."
        }
      }
    },
    "places": {
      "environment_name": "body",
      "backend_repo": "body",
      "backend_branch": "body",
      "backend_commit": "body",
      "frontend_repo": "body",
      "frontend_branch": "body",
      "frontend_commit": "body",
      "ttl": "body",
      "provision_database": "body",
      "auto_generate_secrets": "body",
      "use_shared_api_keys": "body",
      "config_set": "body",
      "config_overrides": "body",
      "database_seed": "body",
      "database_from": "body",
      "sleep": "body"
    }
  },
  "GET /api/v2/environments/{environment_id}/stream": {
    "description": "The environment as server-sent events: its current state, and each change of its status, its spec or its expiry. The stream ends when the environment is gone; a client that reconnects then is answered ENV_NOT_FOUND. The first event after a reconnection has the changes made meanwhile. A comment comes every 15 seconds. A client that reads slowly misses states in between. The stream ends when the caller's rights change, when the service stops, and after 30 minutes: a client reconnects then. Events have no positions: `Last-Event-ID` changes nothing.\n\nNeeds the permission `environments:read`.",
    "schema": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "environment_id"
      ],
      "properties": {
        "environment_id": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "description": "The environment's id, in upper or lower case, or its name."
        }
      }
    },
    "places": {
      "environment_id": "path"
    }
  },
  "GET /api/v2/environments/{environment_id}/logs/{component}": {
    "description": "The newest lines of all pods and containers of the component, and of the former run of containers that were restarted. Lines of JSON are parsed (an error beside the message is added to it), others are the message. For `argocd`: the conditions of the environment's application, its last operation, and the result for each resource. With `workload`: of the pods of that workload, whatever the component. The answer to an unknown name has the existing names.\n\nNeeds the permission `environments:read`.",
    "schema": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "environment_id",
        "component"
      ],
      "properties": {
        "environment_id": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "description": "The environment's id, in upper or lower case, or its name."
        },
        "component": {
          "type": "string",
          "enum": [
            "backend",
            "frontend",
            "argocd"
          ],
          "description": "argocd: the deployer's report on the environment's application."
        },
        "lines": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1000,
          "default": 100,
          "description": "Number of the newest lines."
        },
        "since": {
          "type": "string",
          "minLength": 2,
          "maxLength": 20,
          "pattern": "^([0-9]{1,5}([.][0-9]{1,3})?d)?([0-9]{1,5}([.][0-9]{1,3})?h)?([0-9]{1,5}([.][0-9]{1,3})?m)?([0-9]{1,5}([.][0-9]{1,3})?s)?$",
          "description": "Nothing older than this, a duration such as 1d, 1h, 30m or 1.5h."
        },
        "workload": {
          "type": "string",
          "minLength": 1,
          "maxLength": 317,
          "pattern": "^([A-Za-z]{1,63}/)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$",
          "description": "The pods of this workload instead of the component's, whichever component they are of: its name, or its kind and name where several kinds have one of that name."
        }
      }
    },
    "places": {
      "environment_id": "path",
      "component": "path",
      "lines": "query",
      "since": "query",
      "workload": "query"
    }
  },
  "PUT /api/v2/environments/{environment_id}": {
    "description": "Sets the TTL; `expires_at` moves to the creation plus the new TTL. `description` is the reason, kept for the audit trail.\n\nNeeds the permission `environments:update`.",
    "schema": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "environment_id",
        "ttl_hours"
      ],
      "properties": {
        "environment_id": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "description": "The environment's id, in upper or lower case, or its name."
        },
        "ttl_hours": {
          "type": "integer",
          "minimum": 1,
          "maximum": 168,
          "description": "Hours from creation to deletion."
        },
        "description": {
          "type": "string",
          "maxLength": 500,
          "description": "Reason; kept for the audit trail."
        }
      }
    },
    "places": {
      "environment_id": "path",
      "ttl_hours": "body",
      "description": "body"
    }
  },
  "PATCH /api/v2/environments/{environment_id}": {
    "description": "Protects the environment from deletion and expiry, scales it to zero, or takes either back; a protection by a caller who is no maintainer ends 168 hours after the expiry, and only maintainers remove one without end. Moves it to another branch, commit or version of its config set. The running version stays until the new one is ready; secrets, URLs and expiry stay. The target is checked as at a creation. Only its pull request moves an environment of a pull request: 409.\n\nNeeds the permission `environments:update`.",
    "schema": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "environment_id"
      ],
      "properties": {
        "environment_id": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "description": "The environment's id, in upper or lower case, or its name."
        },
        "protected": {
          "type": "boolean",
          "description": "Refuses deletion and expiry: without end when a maintainer protects, else until 168 hours after the expiry. A protection without end is removed by maintainers alone."
        },
        "suspended": {
          "type": "boolean",
          "description": "Scales everything to zero while true; secrets and data stay. false also wakes an environment that its schedule, or idleness, has asleep; outside its hours it then stays awake until the end of the next ones."
        },
        "sleep": {
          "type": "object",
          "properties": {
            "schedule": {
              "type": "object",
              "required": [
                "time_zone",
                "awake"
              ],
              "properties": {
                "time_zone": {
                  "type": "string",
                  "maxLength": 64,
                  "pattern": "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
                  "description": "An IANA name; its changes of the clock count."
                },
                "awake": {
                  "type": "array",
                  "items": {
                    "type": "string",
                    "maxLength": 64,
                    "pattern": "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(-(Mon|Tue|Wed|Thu|Fri|Sat|Sun))?(,(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(-(Mon|Tue|Wed|Thu|Fri|Sat|Sun))?){0,6} ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"
                  },
                  "minItems": 1,
                  "maxItems": 14,
                  "description": "The hours in which it is awake, such as `Mon-Fri 08:00-19:00` or `Sat,Sun 10:00-16:00`. Hours that end at or before their begin end on the next day."
                }
              },
              "additionalProperties": false
            },
            "after_idle_minutes": {
              "type": "integer",
              "minimum": 10,
              "maximum": 10080,
              "description": "It sleeps after so long without activity: requests, updates, and people who read its logs. While requests are not known to the platform, nothing is idle."
            },
            "minimum_requests": {
              "type": "integer",
              "minimum": 1,
              "maximum": 10000,
              "description": "The requests within five minutes that count as activity, 1 when left out: more than a monitor sends, which would keep it awake. Only beside `after_idle_minutes`."
            }
          },
          "additionalProperties": false,
          "description": "Outside the hours of the schedule, and when it was idle, the environment is scaled to zero; secrets and data stay. An empty object: it never sleeps. When the field is left out, the default counts: that of the config set, of the backend's repository, or of the platform."
        },
        "backend_branch": {
          "type": "string",
          "minLength": 1,
          "maxLength": 244,
          "pattern": "^[^\\x00-\\x20\\x7f~^:?*\\[\\\\./-][^\\x00-\\x20\\x7f~^:?*\\[\\\\]{0,243}$",
          "description": "Git branch that the backend moves to; its head, unless a commit is sent, too."
        },
        "backend_commit": {
          "type": "string",
          "maxLength": 64,
          "pattern": "^([0-9A-Fa-f]{7,64})?$",
          "description": "Commit SHA that the backend moves to. Empty: the head of its branch, read anew. A short one of 7 digits or more stands for that head and for no other commit."
        },
        "frontend_branch": {
          "type": "string",
          "minLength": 1,
          "maxLength": 244,
          "pattern": "^[^\\x00-\\x20\\x7f~^:?*\\[\\\\./-][^\\x00-\\x20\\x7f~^:?*\\[\\\\]{0,243}$",
          "description": "Git branch that the frontend moves to; its head, unless a commit is sent, too."
        },
        "frontend_commit": {
          "type": "string",
          "maxLength": 64,
          "pattern": "^([0-9A-Fa-f]{7,64})?$",
          "description": "Commit SHA that the frontend moves to. Empty: the head of its branch, read anew. A short one of 7 digits or more stands for that head and for no other commit."
        },
        "config_set_version": {
          "anyOf": [
            {
              "type": "integer",
              "minimum": 1
            },
            {
              "type": "string",
              "const": "current"
            }
          ],
          "description": "Moves the environment to the current version of its config set: `current`, or that version's number, which is refused once there is a newer one."
        }
      }
    },
    "places": {
      "environment_id": "path",
      "protected": "body",
      "suspended": "body",
      "sleep": "body",
      "backend_branch": "body",
      "backend_commit": "body",
      "frontend_branch": "body",
      "frontend_commit": "body",
      "config_set_version": "body"
    }
  },
  "DELETE /api/v2/environments/{environment_id}": {
    "description": "Initiates the deletion of the environment and of all its resources: its applications, its secrets, its namespace. It is complete when the environment is not found any more; asking again meanwhile is fine.\n\nNeeds the permission `environments:delete`.",
    "schema": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "environment_id"
      ],
      "properties": {
        "environment_id": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253,
          "description": "The environment's id, in upper or lower case, or its name."
        }
      }
    },
    "places": {
      "environment_id": "path"
    }
  }
} as const satisfies Readonly<Record<string, OperationInput>>;
