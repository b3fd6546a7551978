import { describe, expect, test } from "@jest/globals";
import { valueOwner } from "../../../../../crds/api-token.ts";
import { CONFIRM_DELETION_ANNOTATION, ENVIRONMENT_UID_LABEL, ownerLabels } from "../../../../../crds/group.ts";
import { orphansAmong, ownerOf } from "../../../../../operator/controllers/garbage-collection/orphans.ts";
import type { KubeObject } from "../../../../../operator/kit/client/objects.ts";
import { apiTokenFixture } from "../../../../support/fixtures/api-token-fixture.ts";
import { minutesLater, UID } from "../../../../support/fixtures/environment/environment-fixture.ts";

const OTHER = "ffffffff-1111-4222-8333-444455556666";

function object(kind: string, name: string, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject {
  const common = { uid: `${kind}-${name}`, resourceVersion: "1", creationTimestamp: minutesLater(0).toISOString() };
  return { apiVersion: "v1", kind, metadata: { ...common, name, ...metadata } };
}

const labelled = (name: string, uid = UID) => ({ labels: ownerLabels({ name, uid }) });

describe("whose an object is", () => {
  test.each<[string, KubeObject, object | undefined]>([
    ["ours, by name and labels", object("Namespace", "env-shop", labelled("shop")), { name: "shop", uid: UID }],
    ["no owner's without labels", object("Namespace", "env-shop"), undefined],
    [
      "no owner's with only the UID",
      object("Namespace", "env-prod", { labels: { [ENVIRONMENT_UID_LABEL]: UID } }),
      undefined,
    ],
    ["no owner's with the name of another", object("Namespace", "env-prod", labelled("shop")), undefined],
    ["no owner's with a name that is not ours", object("Namespace", "prod", labelled("prod")), undefined],
    [
      "no owner's when no environment can have the name",
      object("Namespace", "env-kube-x", labelled("kube-x")),
      undefined,
    ],
    ["no owner's without a valid UID", object("Namespace", "env-shop", labelled("shop", "any")), undefined],
  ])("%s", (_what, given, expected) => {
    expect(ownerOf(given)).toEqual(expected);
  });
});

describe("what is left", () => {
  const namespace = object("Namespace", "env-shop", labelled("shop"));
  const application = object("Application", "env-shop", {
    ...labelled("shop"),
    creationTimestamp: minutesLater(5).toISOString(),
    annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" },
  });
  const held = { name: "shop", uid: UID, since: minutesLater(2), until: minutesLater(7) };

  test("is gathered by its owner, with the oldest and the youngest", () => {
    expect(orphansAmong([namespace, application], [held], () => false)).toEqual([
      {
        owner: { name: "shop", uid: UID },
        isConfirmed: true,
        what: ["Namespace env-shop", "Application env-shop", "secrets"],
        since: minutesLater(0),
        until: minutesLater(7),
      },
    ]);
  });

  test.each([
    ["no environment can be called so", { ...held, name: "kube-x" }],
    ["the UID is none", { ...held, uid: "any" }],
    ["it is the value of an API token", { ...held, ...valueOwner(apiTokenFixture()) }],
  ])("is none of what the secret manager says when %s", (_why, said) => {
    expect(orphansAmong([], [said], () => false)).toEqual([]);
  });

  test("is nothing of an environment that is known, whatever else it is called", () => {
    expect(orphansAmong([namespace, application], [held], (uid) => uid === UID)).toEqual([]);
  });

  test("keeps environments of the same name apart", () => {
    const found = orphansAmong([namespace], [{ ...held, uid: OTHER }], () => false);
    expect(found.map(({ owner, what }) => [owner.uid, what])).toEqual([
      [UID, ["Namespace env-shop"]],
      [OTHER, ["secrets"]],
    ]);
  });
});
