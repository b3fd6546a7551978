"""What the document can't say and schemathesis has to know: which things there are, and which refusals are stated."""

import hashlib
import hmac
import os
import re

import schemathesis
from hypothesis import strategies as st

# Formats of ours are stricter than the patterns beside them: what is drawn has to be acceptable.
schemathesis.openapi.format("environment-name", st.from_regex(r"[a-z][a-z0-9]{2,12}(-[a-z0-9]{1,12}){0,2}", fullmatch=True))
schemathesis.openapi.format("config-set-name", st.from_regex(r"[a-z][a-z0-9]{2,12}(-[a-z0-9]{1,12}){0,2}", fullmatch=True))
schemathesis.openapi.format("git-branch", st.from_regex(r"[a-z0-9@+#é日]{1,8}(/[a-z0-9@+#]{1,8}){0,2}", fullmatch=True))

# Refusals of what is well formed by its schema: a name that is taken, or kept for a pull request, parts of free-form values that would harm or not
# survive the next reader, a variable of the platform, more than a limit or a quota, a change all of whose fields are null, a branch, a frontend or a config set that is not there,
# half a period, or one beside a window, and a workload in the deployer's report.
STATED = re.compile(
    "Environment name already exists|is reserved for the environment of a pull request|must be a number that keeps all its digits|is what the platform sets: change port|may refer to \\d+ secrets|the variables of the |is more than (its limit|the environment.s quota)|The key '[a-z_]+' is not allowed"
    "|must name a field to change|repository .* has no branch |has no frontend|has no config set"
    "|from and to come together|must be absent beside from and to|from: must be before to|the report of argocd has no workloads|must be an IANA time zone|counts only beside after_idle_minutes|needs a database: set provision_database"
)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether the failure is one."""
    if type(failure).__name__ != "RejectedPositiveData":
        return True
    try:
        return not STATED.search(response.json()["detail"])
    except (KeyError, ValueError):
        return True


KEY = os.environ["WEBHOOK_KEY"]
SIGNED = ("/webhooks/repohost", "/webhooks/pipelinehost/pipeline")


def proven(request):
    """The request as a host sends it: what was drawn without a proof of its own gets the right one, over its bytes."""
    body = request.body or b""
    body = body.encode() if isinstance(body, str) else body
    request.headers.setdefault("X-Hub-Signature-256", "sha256=" + hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest())
    request.headers.setdefault("X-Pipeline-Token", KEY)
    return request


@schemathesis.hook
def before_call(context, case, kwargs):
    """Signs webhooks once their bytes are known."""
    if case.path.endswith(SIGNED):
        kwargs["auth"] = proven
    # A webhook that touched no environment answers an empty id: as a part of a path it would be another path.
    for name, value in (case.path_parameters or {}).items():
        if value == "":
            case.path_parameters[name] = "none"


# The bodies that are sent as JSON.
REQUESTS = [
    *("CreateEnvironmentRequest", "ExtendEnvironmentRequest", "UpdateEnvironmentRequest", "CleanupRequest"),
    *("CreateEnvironmentReportRequest", "SleepRequest", "DatabaseSeed"),
    *("ConfigSetRequest", "ConfigSetContent", "TokenRequest", "PasswordResetRequest"),
]

# The bodies of creations, by path.
CREATIONS = {
    "/api/environments": "CreateEnvironmentRequest",
    "/api/v2/environments": "CreateEnvironmentReportRequest",
}

# What there is, by parameter.
DRAWN = {"repo": ["shop-api"], "config_set": [""]}


def existing(*values):
    return {"type": "string", "enum": list(values)}


# A short commit is none unless the branch is at it.
FULL_COMMIT = {"type": "string", "maxLength": 64, "pattern": "^([0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})?$"}

# What a form or a query may say instead of true and false. The document has it in words, for generators of clients.
YES = [True, 1, "1", "true", "on", "yes"]
NO = [False, 0, "0", "false", "off", "no"]


def spelled_out(field):
    """A boolean as a form or a query may have it."""
    if field.get("type") != "boolean":
        return field
    allowed = field.get("enum", [True, False])
    return {"enum": [word for words, value in ((YES, True), (NO, False)) if value in allowed for word in words]}


def nullable(part):
    """Optional fields may be null. The document has it in words, for generators of clients."""
    if not isinstance(part, dict) or "properties" not in part:
        return part
    required = part.get("required", [])
    fields = {name: nullable(field) for name, field in part["properties"].items()}
    return {**part, "properties": {name: field if name in required else or_null(field) for name, field in fields.items()}}


def or_null(field):
    if "$ref" in field:
        return {"anyOf": [field, {"type": "null"}]}
    if not isinstance(field.get("type"), str):
        return field
    return {**field, "type": [field["type"], "null"], **({"enum": [*field["enum"], None]} if "enum" in field else {})}


def without_references(part):
    """Takes references to secrets away: there are none to refer to."""
    if isinstance(part, list):
        return [without_references(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {key: without_references(value) for key, value in part.items() if key != "secret_ref"}


def narrow_creation(create):
    create["backend_repo"] = existing("shop-api")
    create["frontend_repo"] = existing("shop-web", "")
    create["config_set"] = existing("")
    # Fields that need another one: every secret where none is generated, a set for its keys.
    create["auto_generate_secrets"] = {"type": "boolean", "enum": [True]}
    create["use_shared_api_keys"] = {"type": "boolean", "enum": [False]}
    # There is no environment with a database to copy.
    create.pop("database_from", None)
    create["config_overrides"] = without_references(create["config_overrides"])
    overridden = create["config_overrides"]["properties"]["helm_values"]["properties"]
    overridden.pop("frontend")
    # The Repositories list no further paths as overridable.
    overridden["backend"]["additionalProperties"] = False


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Narrows what is drawn as valid to what refers to existing things; the served document is left as it is."""
    schemas = raw_schema["components"]["schemas"]
    schemas["VariableValue"] = schemas["VariableText"]
    for title in CREATIONS.values():
        narrow_creation(schemas[title]["properties"])
    for title in (*CREATIONS.values(), "UpdateEnvironmentRequest"):
        for field in ("backend_commit", "frontend_commit"):
            schemas[title]["properties"][field] = FULL_COMMIT
    for path in ("/api/helm/config-template", "/api/v2/helm/config-template"):
        for parameter in raw_schema["paths"][path]["get"]["parameters"]:
            if parameter.get("name") in DRAWN:
                parameter["schema"] = existing(*DRAWN[parameter["name"]])
    for path, title in CREATIONS.items():
        forms = raw_schema["paths"][path]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]
        # Schemathesis can't write JSON into a field of a form.
        create = schemas[title]["properties"]
        fields = {name: spelled_out(field) for name, field in create.items() if name not in ("config_overrides", "sleep", "database_seed")}
        forms["schema"] = {**schemas[title], "properties": fields}
    for title in ("ConfigSetRequest", "ConfigSetContent"):
        content = without_references(schemas[title]["properties"])
        # No name may come twice, which a schema can't say.
        content["env"] = {**content["env"], "items": without_references(schemas["ConfigSetVariable"]), "maxItems": 1}
        content["shared_api_keys"]["maxItems"] = 0
        schemas[title]["properties"] = content
        # Its examples have references.
        schemas[title].pop("examples", None)
    # It has to be the one in the path.
    schemas["ConfigSetContent"]["properties"].pop("name")
    # It has one of two fields, and a field that is null is none.
    seed = schemas["DatabaseSeed"]
    seed["required"] = ["image", *seed["required"]]
    for field in ("minProperties", "maxProperties"):
        seed.pop(field)
    seed["properties"].pop("git")
    for title in REQUESTS:
        schemas[title] = nullable(schemas[title])
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter.get("in") == "query":
                    parameter["schema"] = spelled_out(parameter["schema"])
                # Its pattern also fits days that no calendar has; the document has it in words, for generators of clients.
                if parameter.get("name") == "Last-Event-ID":
                    parameter["schema"]["format"] = "date-time"
