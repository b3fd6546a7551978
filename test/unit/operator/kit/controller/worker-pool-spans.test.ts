import { expect, test } from "@jest/globals";
import { recordedLog } from "../../../../support/fixtures/recorded-log.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { receivedSpans } from "../../../../support/tracing/received-spans.ts";
import { outcomesInto, runningWorkerPools } from "./running-worker-pools.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CAUSE = `00-${TRACE}-b7ad6b7169203331-01`;

const world = runningWorkerPools();

test("a reconcile is a span with what its log lines say, its end and its cause; a key may name a person", async () => {
  const { tracing, received } = await receivedSpans();
  const { log, lines } = recordedLog();
  const outcomes: string[] = [];
  const pool = world.started(
    async (key) => {
      log.info("reconciling");
      if (key.startsWith("bad")) throw new TypeError("the password is 1234");
    },
    {
      name: "messages",
      workers: 1,
      log,
      tracing,
      metrics: outcomesInto(outcomes),
      loggedKey: (key) => (key.includes("@") ? "digest" : key),
      causeOf: (key) => (key === "caused" ? CAUSE : undefined),
    },
  );
  for (const key of ["someone@example.test", "caused", "bad"]) pool.enqueue(key);
  await until(() => outcomes.length === 3);
  const spans = await received();
  expect(spans.map(({ name, links, isFailed }) => [name, links.map(({ traceId }) => traceId), isFailed])).toEqual([
    ["reconcile messages", [], false],
    ["reconcile messages", [TRACE], false],
    ["reconcile messages", [], true],
  ]);
  expect(spans.map(({ attributes }) => [attributes.key, attributes.outcome])).toEqual([
    ["digest", "done"],
    ["caused", "done"],
    ["bad", "panic"],
  ]);
  const ids = (facts: Readonly<Record<string, unknown>>) => [facts.reconcileId, facts.controller];
  const said = lines.filter(({ message }) => message === "reconciling");
  expect(said.map((line) => [line.traceId, ...ids(line)])).toEqual(
    spans.map(({ traceId, attributes }) => [traceId, ...ids(attributes)]),
  );
  for (const hidden of ["example.test", "1234"]) expect(JSON.stringify(spans)).not.toContain(hidden);
});
