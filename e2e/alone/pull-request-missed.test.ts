import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, expect, jest, test } from "@jest/globals";
import { Environments, madeFor, untilGone, untilReady } from "../support/environments.ts";
import { PullRequest } from "../support/gitea/pull-requests.ts";
import { waitFor } from "../support/kubectl.ts";
import { killOperator, pauseSupervisor, resumeSupervisor, untilOperatorServes } from "../support/operator.ts";
import { site, TEST_DEADLINE_MS } from "../support/site.ts";
import { waitUntil } from "../support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
let pull: PullRequest;
afterEach(resumeSupervisor);
afterAll(() => pull?.close());
afterAll(() => pull?.removeBranch());
afterAll(() => environments.removeAll());

const REFUSED_DEADLINE_MS = 60_000;

/** True when the server could take the port of loopback. */
async function isListening(server: Server, port: number): Promise<boolean> {
  server.listen(port, "127.0.0.1");
  return once(server, "listening").then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") return false;
      throw error;
    },
  );
}

/**
 * Listens at the platform's port until the host's report of a closed pull request is refused: Gitea sends it from a queue.
 */
async function refusingItsEnd(close: () => Promise<unknown>): Promise<void> {
  const refused = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.writeHead(503).end();
    if (request.method === "POST" && (JSON.parse(body) as { action?: string }).action === "closed") refused.resolve();
  });
  const giveUp = () => refused.reject(new Error("Gitea did not send the end of the pull request"));
  const timer = setTimeout(giveUp, REFUSED_DEADLINE_MS);
  try {
    // The sockets of a killed program are closed a moment after its end.
    const check = () => isListening(server, Number(new URL(site.apiUrl).port));
    await waitUntil({ what: "the platform's port being free", check, deadlineMs: 20_000 });
    await close();
    await refused.promise;
  } finally {
    clearTimeout(timer);
    const ended = once(server, "close");
    server.close();
    server.closeAllConnections();
    await ended;
  }
}

test("a pull request that is closed while the platform is down loses its environment when the platform is back", async () => {
  ({ pull } = await PullRequest.open());
  const name = pull.environment;
  environments.adopt(name);
  await waitFor(["--for=create", `eenv/${name}`], 30);
  const { uid } = (await untilReady(name)).metadata;
  expect(await madeFor(uid)).not.toEqual([]);

  await pauseSupervisor();
  const killed = await killOperator();
  await refusingItsEnd(() => pull.close());
  await resumeSupervisor();
  await untilOperatorServes(killed);

  // Gitea never retries: the platform checks.
  await untilGone(name);
  expect(await madeFor(uid)).toEqual([]);
  // A sweep during the pull request's opening stores a delivery, too.
  const requested = (await pull.deliveries()).filter(({ spec }) => spec.source === "refetch");
  const ends = requested.filter(({ spec }) => spec.event.pullRequest?.action === "closed");
  expect(ends.map(({ status }) => status?.phase)).toEqual(["acted"]);
});
