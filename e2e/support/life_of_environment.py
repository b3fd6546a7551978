"""
Takes an environment through its life with the client that openapi-python-client has generated, as a pipeline would, and
prints what it saw as JSON. Usage: life_of_environment.py API_URL NAME, with API_TOKEN in the environment variables.
"""

import json
import os
import sys
import time
from http import HTTPStatus

from platform_client import AuthenticatedClient
from platform_client.api.environments import create_environment, delete_environment, extend_environment, get_environment
from platform_client.models import CreateEnvironmentRequest, EnvironmentStatus, ExtendEnvironmentRequest

DEADLINE_S = 100

api_url, name = sys.argv[1:]
client = AuthenticatedClient(base_url=api_url, token=os.environ["API_TOKEN"], raise_on_unexpected_status=True)


def answered(response):
    """What a call answers; ends the run where it is refused."""
    if response.status_code != HTTPStatus.OK:
        sys.exit(f"{response.status_code}: {response.content.decode()}")
    return response.parsed


def until(is_so):
    """The answer to a look at the environment for which this is so."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        response = get_environment.sync_detailed(environment, client=client)
        if is_so(response):
            return response
        time.sleep(1)
    sys.exit(f"{name} has not come so far in {DEADLINE_S} s: {response.content.decode()}")


request = CreateEnvironmentRequest.from_dict(
    {
        "environment_name": name,
        "backend_repo": "sample-backend",
        "backend_branch": "main",
        "ttl": 1,
        "config_overrides": {"helm_values": {"backend": {"env": {"GREETING": "hello"}}}},
    }
)
created = answered(create_environment.sync_detailed(client=client, body=request)).environment
environment = created.id

ready = until(lambda it: it.status_code == HTTPStatus.OK and it.parsed.status == EnvironmentStatus.READY).parsed
longer = ExtendEnvironmentRequest(ttl_hours=2)
extended = answered(extend_environment.sync_detailed(environment, client=client, body=longer)).environment
answered(delete_environment.sync_detailed(environment, client=client))
gone = until(lambda it: it.status_code == HTTPStatus.NOT_FOUND).parsed

print(
    json.dumps(
        {
            "id": environment,
            "created": created.status,
            "ready": ready.status,
            "url": ready.urls.backend,
            "hours_more": (extended.expires_at - created.expires_at).total_seconds() / 3600,
            "gone": gone.error_code,
        }
    )
)
