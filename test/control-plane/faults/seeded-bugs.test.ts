/**
 * Proves that the suite can fail: each classic bug is put into the operator through its ports and requests, provoked, and
 * must be found under the invariant that it breaks. The same provocation of the correct operator breaks none.
 */

import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { namespaceName, secretStoreName } from "../../../crds/names.ts";
import { ACCESS_BINDING } from "../../../operator/controllers/environment/desired/secret.ts";
import { insteadOf, isNotFound } from "../../../operator/kit/client/errors.ts";
import { networkPolicyKind, roleBindingKind, secretKind } from "../../../operator/kit/client/kinds.ts";
import { resourceType } from "../../../operator/kit/client/objects.ts";
import { type Bug, type BugTrial, prepareBugTrial } from "../../support/faults/bug-trial.ts";
import { CONVERGENCE_MS, orphans, snapshot } from "../../support/faults/invariants.ts";
import { environmentOf } from "../../support/faults/pull-requests/audience.ts";
import { pullRequestParts } from "../../support/faults/pull-requests/lifecycles.ts";
import { reportsOf, watchOutbox } from "../../support/faults/pull-requests/reports.ts";
import {
  deleteByName,
  earlyRelease,
  expiryInMemory,
  forgetfulManager,
  forgottenComment,
  keepWhatListsLack,
  lateFinalizer,
  swallowedStatusError,
} from "../../support/faults/seeded-bugs.ts";
import { until } from "../../support/fixtures/until.ts";

const configMap = resourceType({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });

/** Duration of a blocked deletion, to see that the resource waits for it. */
const HELD_UP_MS = 5_000;

let trial: BugTrial;
beforeAll(async () => {
  trial = await prepareBugTrial();
}, 300_000);
afterAll(() => trial.stop(), 60_000);

const bugs: readonly Bug[] = [
  {
    name: "secrets are generated again",
    breaks: "I4",
    ports: forgetfulManager,
    async provoke({ world, name, given, missing }) {
      const { status } = await given();
      const secret = { name: status?.podSecrets?.at(-1) ?? "", namespace: namespaceName(name) };
      await world.world.admin.delete(secretKind, secret);
      await world.world.reconcile(name);
      return missing();
    },
  },
  {
    name: "the finalizer comes after the namespace",
    breaks: "I12",
    ports: lateFinalizer,
    async provoke({ world, name, found, planned, restart }) {
      planned("create Namespace env-NAME", "crash after");
      await world.create(name);
      await until(() => world.field.of(name).isDead, { what: "the crash", deadlineMs: 10_000 });
      const environment = found();
      world.observer.mayGo(environment);
      await world.world.delete(environment);
      await restart();
      const isGone = () => world.observer.environment(name) === undefined;
      await until(isGone, { what: "the end of it", deadlineMs: CONVERGENCE_MS });
      return orphans(world.world.admin);
    },
  },
  {
    name: "the finalizer goes before the namespace is gone",
    breaks: "I12",
    ports: earlyRelease,
    async provoke({ world, name, found, given }) {
      const environment = await given();
      const held = { name: "held", namespace: namespaceName(name), finalizers: ["example.test/hold"] };
      await world.world.admin.create(configMap, { metadata: held });
      await world.delete(environment);
      const isGone = () => found() === undefined;
      await until(isGone, { deadlineMs: HELD_UP_MS, everyMs: 25 }).catch(() => undefined);
      await world.observer.violations();
      const released = { metadata: { finalizers: [] } };
      await world.world.admin.patch(configMap, held, released, { as: "merge" });
      // A platform that sees the held object keeps its rights; one that has left can't drop them any more.
      const binding = { name: ACCESS_BINDING, namespace: held.namespace };
      if (found() === undefined) {
        await world.world.admin
          .patch(roleBindingKind, binding, released, { as: "merge" })
          .catch(insteadOf(isNotFound, "gone"));
      }
      await world.world.expectGone(environment);
      return [];
    },
  },
  {
    name: "deletes go by name",
    breaks: "I6",
    interceptor: deleteByName,
    async provoke({ world, name, given, interfere }) {
      const { admin } = world.world;
      const environment = await given();
      const ref = { name: secretStoreName(environment.metadata), namespace: "ephemeral-secrets" };
      const foreign = [{ type: secretKind, ref }];
      let before: Map<string, string> | undefined;
      // Between the read and the delete, another owner's object takes the name. (Admission would refuse it of other kinds.)
      interfere(async (request, next) => {
        if (request.verb === "delete" && request.name === ref.name && before === undefined) {
          await admin.delete(secretKind, ref);
          await admin.create(secretKind, { metadata: ref } as never);
          before = await snapshot(admin, foreign);
        }
        return next();
      });
      await world.delete(environment);
      await world.world.expectGone(environment);
      const after = await snapshot(admin, foreign);
      await admin.delete(secretKind, ref);
      expect(before).toBeDefined();
      if (isDeepStrictEqual(after, before)) return [];
      return [{ invariant: "I6", environment: name, what: "another owner's Secret was deleted" }];
    },
  },
  {
    name: "the expiry is kept in memory",
    breaks: "I5",
    ports: expiryInMemory,
    async provoke({ world, name, found, restart }) {
      world.field.arm(name);
      await world.create(name);
      await until(() => found()?.status?.expiresAt, { what: "its expiry", deadlineMs: CONVERGENCE_MS });
      await restart();
      await world.world.reconcile(name);
      return [];
    },
  },
  {
    name: "an error of the status write is swallowed",
    breaks: "I1",
    ports: swallowedStatusError,
    async provoke({ world, name, planned, missing }) {
      planned("patch EphemeralEnvironment/status NAME, ready", "500");
      await world.create(name);
      return missing();
    },
  },
  {
    name: "a new list removes nothing",
    breaks: "I2",
    interceptor: keepWhatListsLack(),
    async provoke({ world, name, found, given, missing, watches, restart }) {
      await given();
      // The policies are listed by this process.
      await restart();
      // The deletion's event is lost with the watch: only the next list shows it.
      watches.set("hold");
      await world.world.admin.delete(networkPolicyKind, { name: "default-deny", namespace: namespaceName(name) });
      watches.set("expire");
      await until(() => watches.met > 0, { what: "the end of a watch", deadlineMs: CONVERGENCE_MS });
      const isSeenGone = () => !world.observer.inventory(found()).has("NetworkPolicy/default-deny");
      await until(() => isSeenGone() || watches.met > 1, { what: "the deletion", deadlineMs: CONVERGENCE_MS });
      watches.set("none");
      return missing();
    },
  },
  {
    name: "the id of a comment is not stored",
    breaks: "I11",
    ports: forgottenComment,
    async provoke({ world, name }) {
      const environment = environmentOf(name);
      const outbox = await watchOutbox(world.world.admin);
      try {
        const opening = pullRequestParts(world, outbox).find((part) => part.name === "pull request is opened");
        await opening?.given?.(environment);
        world.field.arm(environment);
        await opening?.act(environment);
        const isReported = () => world.observer.environment(environment)?.status?.feedback?.status?.state === "success";
        await until(isReported, { what: "the report to the host", deadlineMs: CONVERGENCE_MS });
        return reportsOf(world, outbox).ofStored(environment);
      } finally {
        await outbox.stop();
      }
    },
  },
];

describe("the suite calls the bug that", () => {
  test.each(bugs)(
    "$name",
    async (bug) => {
      expect(await trial.violationsUnder(bug, false)).toEqual([]);
      const called = (await trial.violationsUnder(bug, true)).map(({ invariant }) => invariant);
      expect(called).toContain(bug.breaks);
    },
    180_000,
  );
});
