import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { pipeline, source, wholeSpec } from "../../support/fixtures/whole-spec.ts";
import { environmentObject, given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();
const admin = administrator(plane);

const refusedChanges: readonly [what: string, spec: object, words: string][] = [
  ["another backend", { backend: { repository: "other" } }, "spec.backend.repository can't be changed after creation"],
  [
    "another frontend",
    { frontend: { repository: "other" } },
    "spec.frontend.repository, and whether there is a frontend",
  ],
  ["no frontend any more", { frontend: null }, "spec.frontend.repository, and whether there is a frontend"],
  ["secrets that are not generated any more", { secrets: { autoGenerate: false } }, "spec.secrets.autoGenerate can't"],
  ["another config set", { configSet: { name: "other" } }, "spec.configSet.name can't be changed after creation"],
  ["no config set any more", { configSet: null }, "spec.configSet.name can't be changed after creation"],
  ["another trigger", { trigger: { kind: "pipeline" } }, "spec.trigger can't be changed after creation"],
  ["no trigger any more", { trigger: null }, "spec.trigger can't be changed after creation"],
  [
    "an older pipeline",
    { backend: { pipelines: [{ ...pipeline, id: 6 }] } },
    "a newer pipeline of this project is recorded already",
  ],
  [
    "another commit of the same pipeline",
    { backend: { pipelines: [{ ...pipeline, commit: "b".repeat(40) }] } },
    "a pipeline builds one commit, and never another",
  ],
  [
    "another commit's pipeline, while the wanted one's has not succeeded",
    { backend: { commit: "a".repeat(40), pipelines: [{ ...pipeline, id: 8, commit: "b".repeat(40) }] } },
    "another commit's can't take its place",
  ],
  [
    "an earlier attempt of the pipeline",
    { backend: { pipelines: [{ ...pipeline, attempt: 1, status: "canceled" }] } },
    "a later attempt of this pipeline is recorded already",
  ],
  ["no pipelines in an empty list", { backend: { pipelines: [] } }, "a recorded pipeline can't be removed"],
  [
    "another workflow's pipeline of the commit in its place",
    { backend: { pipelines: [{ ...pipeline, workflow: "lint.yml" }] } },
    "a recorded pipeline can't be removed",
  ],
  [
    "another workflow's pipeline of another commit, while the wanted one's has not succeeded",
    {
      backend: {
        commit: "a".repeat(40),
        pipelines: [{ ...pipeline, workflow: "lint.yml", id: 8, commit: "b".repeat(40) }],
      },
    },
    "another commit's can't take its place",
  ],
  ["no pipeline any more", { backend: { pipelines: null } }, "a recorded pipeline can't be removed"],
];

const acceptedChanges: readonly [what: string, spec: object][] = [
  ["another branch, commit and TTL", { ttlHours: 48, backend: { branch: "next", commit: "a".repeat(40) } }],
  ["protection and suspension", { protected: true, suspended: true }],
  ["another config set version", { configSet: { name: "default", version: 4 } }],
  ["no overrides and no database", { overrides: null, database: null }],
  ["silence on the secrets, which are generated then as before", { secrets: null }],
  ["another rotation, and secrets provided no longer", { secrets: { rotate: { SECRET_KEY: "3" }, provided: null } }],
  ["the same pipeline run again", { backend: { pipelines: [{ ...pipeline, status: "running" }] } }],
  ["a newer pipeline of another commit", { backend: { pipelines: [{ ...pipeline, id: 8, commit: "b".repeat(40) }] } }],
  [
    "a newer pipeline of another commit that is wanted from now on",
    { backend: { commit: "b".repeat(40), pipelines: [{ ...pipeline, id: 8, commit: "b".repeat(40) }] } },
  ],
  [
    "a pipeline of another project",
    { backend: { pipelines: [{ ...pipeline, id: 1, project: "g/other", commit: "b".repeat(40) }] } },
  ],
  [
    "an older pipeline of another workflow beside it",
    { backend: { pipelines: [pipeline, { ...pipeline, workflow: "lint.yml", id: 6 }] } },
  ],
  ["a first pipeline", { frontend: { pipelines: [pipeline] } }],
];

describe("a made EphemeralEnvironment", () => {
  const name = unique("kind-");

  beforeAll(async () => {
    await given(admin, paths.environments, environmentObject(name, wholeSpec));
  }, 60_000);

  test.each(refusedChanges)("refuses %s after creation, and says so", async (_, spec, words) => {
    const reply = await admin.patch(`${paths.environments}/${name}?dryRun=All`, { spec });
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(words);
  });

  test.each(acceptedChanges)("accepts %s after creation", async (_, spec) => {
    expect(await admin.patch(`${paths.environments}/${name}?dryRun=All`, { spec })).toMatchObject({ status: 200 });
  });

  test.each(["failed", "canceled", "running"])("refuses %s after the success of a pipeline", async (status) => {
    const succeeded = unique("kind-");
    const backend = { ...source, pipelines: [{ ...pipeline, status: "success" }] };
    await given(admin, paths.environments, environmentObject(succeeded, { backend }));
    const change = { spec: { backend: { pipelines: [{ ...pipeline, status }] } } };
    const reply = await admin.patch(`${paths.environments}/${succeeded}?dryRun=All`, change);
    await admin.delete(`${paths.environments}/${succeeded}`);
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain("the success of a pipeline is final");
  });

  test("shows phase, URL, owner, expiry and age to kubectl", async () => {
    const { stdout } = await promisify(execFile)(plane.kubectl, [
      "--kubeconfig",
      plane.kubeconfigPath,
      "get",
      "eenv",
      name,
    ]);
    const [header = ""] = stdout.split("\n");
    expect(header.split(/\s+/).filter(Boolean)).toEqual(["NAME", "PHASE", "URL", "OWNER", "EXPIRES", "AGE"]);
  });
});
