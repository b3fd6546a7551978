import { join } from "node:path";
import type { Settings } from "../../../config/settings.ts";
import { makeCommand } from "../make-command.ts";
import type { HostPlatform } from "../platform/programs.ts";
import { shortPath } from "../short-path.ts";

/** Facts about a platform that runs for an existing cluster. */
export interface Running extends HostPlatform {
  readonly settings: Settings;
  readonly apiUrl: string;
  readonly env: string;
}

/** Describes the running platform and the next commands. */
export function epilogue({ folder, cluster, settings, apiUrl, env }: Running): string {
  const { namespace, serviceAccount, api } = settings;
  const [signIn] = api.issuers;
  const idToken = signIn ? `ID_TOKEN is one of ${signIn.issuer}` : "needs an issuer in the settings";
  return `
The platform runs on this machine for ${cluster.server}, as system:serviceaccount:${namespace}:${serviceAccount}.

  REST interface  ${apiUrl}, described at ${apiUrl}/docs
  operator        ${shortPath(join(folder, "log/operator.log"))}
  its token       ${shortPath(join(folder, "log/platform-token.log"))}

They keep running; "${makeCommand("down")}" stops them. Put your own repositories into the examples. Next:

  source ${shortPath(env)}
  $KUBECTL apply -f deploy/examples/repository-backend.yaml -f deploy/examples/repository-frontend.yaml
  curl -H "Authorization: Bearer $ID_TOKEN" $API_URL/api/environments \\
    -d environment_name=hello -d backend_repo=shop-api -d backend_branch=main   # ${idToken}
  eenv login --with-token <<< $ID_TOKEN && eenv list   # "eenv --help"
  $KUBECTL get eenv --watch          # the same without REST: $KUBECTL apply -f deploy/examples/environment.yaml`;
}
