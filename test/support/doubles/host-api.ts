import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A comment of a pull request. */
export interface HostComment {
  readonly id: number;
  body: string;
  readonly user: { readonly id: number };
}

/** A deployment, with the states that it was given. */
export interface HostDeployment {
  readonly id: number;
  readonly sha: string;
  readonly environment: string;
  readonly task: string;
  readonly states: string[];
}

/** A request as it came. */
export interface HostCall {
  readonly route: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An answer that a test gives instead. */
export interface HostAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The id of the account that the token belongs to. */
export const SELF = 7;

type Route = (call: HostCall, parts: readonly string[]) => HostAnswer;

/**
 * The part of the API of a repository's host that feedback calls, for one pull request (number 42), on loopback. GitHub and
 * Gitea have the same paths; Gitea's begin with `/api/v1`. What it does not know is answered 404.
 */
export async function startHostApi({ prefix = "" } = {}) {
  const calls: HostCall[] = [];
  const statuses: Record<string, unknown>[] = [];
  const comments: HostComment[] = [];
  const deployments: HostDeployment[] = [];
  const environments = new Set<string>();
  let answer: (call: HostCall) => HostAnswer | undefined = () => undefined;
  let ids = 100;
  const absent: HostAnswer = { status: 404, body: { message: "Not Found" } };
  const deploymentOf = (id = "") => deployments.find((one) => one.id === Number(id));

  const routes: readonly (readonly [RegExp, Route])[] = [
    [/^GET \/user$/, () => ({ status: 200, body: { id: SELF } })],
    [
      /^POST \/repos\/shop\/[^/]+\/statuses\/(\w+)$/,
      ({ body }, [sha]) => {
        statuses.push({ ...body, sha });
        return { status: 201, body: {} };
      },
    ],
    [
      /^GET \/repos\/shop\/[^/]+\/issues\/42\/comments(\?.*)?$/,
      (_call, [query = ""]) => ({ status: 200, body: /[?&]page=([2-9]|\d\d)/.test(query) ? [] : comments }),
    ],
    [
      /^POST \/repos\/shop\/[^/]+\/issues\/42\/comments$/,
      ({ body }) => {
        ids += 1;
        comments.push({ id: ids, body: String(body.body), user: { id: SELF } });
        return { status: 201, body: { id: ids } };
      },
    ],
    [
      /^PATCH \/repos\/shop\/[^/]+\/issues\/comments\/(\d+)$/,
      ({ body }, [id]) => {
        const found = comments.find((comment) => comment.id === Number(id));
        if (found === undefined) return absent;
        found.body = String(body.body);
        return { status: 200, body: { id: found.id } };
      },
    ],
    [
      /^GET \/repos\/shop\/[^/]+\/deployments\?(.*)$/,
      (_call, [query]) => {
        const asked = new URLSearchParams(query);
        const fits = (one: HostDeployment) =>
          one.environment === asked.get("environment") && one.task === asked.get("task");
        return { status: 200, body: deployments.filter(fits) };
      },
    ],
    [
      /^POST \/repos\/shop\/[^/]+\/deployments$/,
      ({ body }) => {
        ids += 1;
        const environment = String(body.environment);
        environments.add(environment);
        deployments.push({ id: ids, sha: String(body.ref), environment, task: String(body.task), states: [] });
        return { status: 201, body: { id: ids, sha: body.ref } };
      },
    ],
    [
      /^POST \/repos\/shop\/[^/]+\/deployments\/(\d+)\/statuses$/,
      ({ body }, [id]) => {
        const found = deploymentOf(id);
        found?.states.push(String(body.state));
        return found === undefined ? absent : { status: 201, body: {} };
      },
    ],
    [
      /^DELETE \/repos\/shop\/[^/]+\/deployments\/(\d+)$/,
      (_call, [id]) => {
        const found = deploymentOf(id);
        if (found === undefined) return absent;
        // https://docs.github.com/en/rest/deployments/deployments#delete-a-deployment
        if (found.states.at(-1) !== "inactive") return { status: 422, body: { message: "is active" } };
        deployments.splice(deployments.indexOf(found), 1);
        return { status: 204 };
      },
    ],
    [
      /^DELETE \/repos\/shop\/[^/]+\/environments\/([^/]+)$/,
      (_call, [name = ""]) => (environments.delete(decodeURIComponent(name)) ? { status: 204 } : absent),
    ],
  ];

  const reply = (call: HostCall): HostAnswer => {
    const given = answer(call);
    if (given !== undefined) return given;
    for (const [pattern, route] of routes) {
      const parts = pattern.exec(call.route);
      if (parts !== null) return route(call, parts.slice(1));
    }
    return absent;
  };

  const server = createServer(async (request, response) => {
    const call = await readCall(request, prefix);
    calls.push(call);
    send(response, reply(call));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    apiUrl: `http://127.0.0.1:${port}${prefix}`,
    calls,
    statuses,
    comments,
    deployments,
    environments,
    /** The calls that change something, by route. */
    writes: () => calls.map(({ route }) => route).filter((route) => !route.startsWith("GET ")),
    /** Answers these calls otherwise; `undefined` leaves a call to the host. */
    answerWith(given: typeof answer) {
      answer = given;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** What `startHostApi` resolves with. */
export type HostApiDouble = Awaited<ReturnType<typeof startHostApi>>;

async function readCall(request: IncomingMessage, prefix: string): Promise<HostCall> {
  const text = Buffer.concat(await Array.fromAsync(request)).toString();
  const url = request.url ?? "";
  const path = url.startsWith(prefix) ? url.slice(prefix.length) : `outside the API: ${url}`;
  return {
    route: `${request.method} ${path}`,
    authorization: request.headers.authorization,
    body: text === "" ? {} : JSON.parse(text),
  };
}

function send(response: ServerResponse, { status, headers = {}, body }: HostAnswer): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
