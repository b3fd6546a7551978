import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { suspendedValues } from "../../../../operator/controllers/environment/desired/values.ts";
import { type Deployment, database, rendered, values } from "./rendered-environment.ts";

const seed = {
  id: "0a1b2c3d",
  image: "registry.test/shop/seed:1",
  path: "/seed/data.sql",
  format: "sql",
  seconds: 600,
};
const seeded = { ...database, seeded: true };

const script = (name: string) => readFile(`deploy/charts/environment/files/${name}.sh`, "utf8");

interface Job extends Manifest {
  readonly spec: {
    readonly activeDeadlineSeconds: number;
    readonly backoffLimit: number;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly [
          { readonly command: readonly string[]; readonly env: readonly { name: string; value?: string }[] },
        ];
        readonly volumes: readonly object[];
      };
    };
  };
}

interface Annotated {
  readonly annotations?: Readonly<Record<string, string>>;
}

const WAVE = "argocd.argoproj.io/sync-wave";

describe("the environment chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  describe("with a database", () => {
    const withDatabase = async (change: object = {}) => {
      const objects = await rendered({ database, ...change });
      const ofDatabase = objects.filter(({ metadata }) => metadata.name === "database");
      return Object.fromEntries(ofDatabase.map((object) => [object.kind, object]));
    };

    test("has a StatefulSet of one pod, its volume and its Service", async () => {
      const { PersistentVolumeClaim: claim, Service: service, StatefulSet: set, ...others } = await withDatabase();
      expect(others).toEqual({});
      expect(claim?.spec).toEqual({ accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } });
      const template = { spec: { containers: [{ image: "postgres:18" }] } };
      expect(set).toMatchObject({ spec: { replicas: 1, serviceName: "database", template } });
      const selector = { "app.kubernetes.io/name": "database", "app.kubernetes.io/part-of": "shop" };
      expect(service).toMatchObject({ spec: { type: "ClusterIP", selector, ports: [{ port: 5432 }] } });
      expect(set).toMatchObject({ spec: { selector: { matchLabels: selector } } });
    });

    test("has components that wait for it, and all else as without", async () => {
      const all = await rendered({ database });
      const rest = structuredClone(all.filter(({ metadata }) => metadata.name !== "database"));
      for (const { spec } of rest.filter(({ kind }) => kind === "Deployment") as unknown as Deployment[]) {
        const { initContainers } = spec.template.spec;
        expect(initContainers).toEqual([expect.objectContaining({ name: "database-ready", image: "postgres:18" })]);
        Reflect.deleteProperty(spec.template.spec, "initContainers");
      }
      expect(rest).toEqual(await rendered());
    });

    test("takes its password from the Secret, and no secret from anywhere else", async () => {
      const { StatefulSet: set } = await withDatabase();
      const { env } = (set as unknown as Deployment).spec.template.spec.containers[0];
      const secretKeyRef = { name: values.secret.name, key: "DATABASE_PASSWORD" };
      expect(env).toContainEqual({ name: "DATABASE_PASSWORD", valueFrom: { secretKeyRef } });
      expect(env.map(({ name }) => name).sort()).toEqual([
        "DATABASE_NAME",
        "DATABASE_PASSWORD",
        "DATABASE_USER",
        "PGDATA",
        "PGHOST",
      ]);
    });

    test("runs its script as it is written: the kubelet expands nothing in it", async () => {
      const { StatefulSet: set } = await withDatabase();
      const { command } = (set as unknown as Deployment).spec.template.spec.containers[0] as { command?: string[] };
      const written = (await script("create-database")) + (await script("database"));
      expect(command).toEqual(["/bin/sh", "-c", written.replaceAll("$", "$$$$")]);
    });

    test("asks for the storage class that is named", async () => {
      const { PersistentVolumeClaim: claim } = await withDatabase({ database: { ...database, storageClass: "fast" } });
      expect(claim).toMatchObject({ spec: { storageClassName: "fast" } });
    });

    test("without a seed has the same pod as ever, or an update would restart every database", async () => {
      const { StatefulSet: set } = await withDatabase();
      const { command } = (set as unknown as Deployment).spec.template.spec.containers[0] as { command?: string[] };
      expect(command?.[2]).not.toContain("seed");
      expect(set).toMatchObject({
        spec: { template: { spec: { securityContext: { runAsUser: 999, fsGroup: 999 } } } },
      });
    });

    test("has its seed loaded by a Job on its volume, in a wave before all else", async () => {
      const objects = await rendered({ database: { ...seeded, seed } });
      const waves = objects.map(({ kind, metadata }) => [kind, (metadata as Annotated).annotations?.[WAVE]]);
      const early = waves.filter(([, wave]) => wave !== undefined);
      expect(early.sort()).toEqual([
        ["Job", "-1"],
        ["PersistentVolumeClaim", "-1"],
      ]);
      const job = objects.find(({ kind }) => kind === "Job") as Job;
      expect(job.metadata.name).toBe("database-seed-0a1b2c3d");
      expect(job.spec).toMatchObject({ activeDeadlineSeconds: 600, backoffLimit: 3, podReplacementPolicy: "Failed" });
      const { containers, volumes } = job.spec.template.spec;
      expect(volumes).toContainEqual({ name: "data", persistentVolumeClaim: { claimName: "database" } });
      expect(volumes).toContainEqual({ name: "seed", image: { reference: seed.image } });
      const [{ command, env }] = containers;
      const texts = await Promise.all([script("seed"), script("create-database")]);
      const [made, empty] = texts.map((text) => text.replaceAll("$", "$$$$"));
      expect(command).toEqual(["/bin/sh", "-c", made, "seed.sh", empty]);
      expect(env).toContainEqual({ name: "SEED_FILE", value: "/seed/seed/data.sql" });
    });

    test("shows its seed no secret, and sends the Service's clients elsewhere", async () => {
      const objects = await rendered({ database: { ...seeded, seed } });
      const job = objects.find(({ kind }) => kind === "Job") as Job;
      expect(JSON.stringify(job)).not.toMatch(/secretKeyRef|secretRef|PASSWORD"/);
      const services = objects.filter(({ kind, metadata }) => kind === "Service" && metadata.name === "database");
      const [selector = {}] = services.map(
        ({ spec }) => (spec as { selector: Readonly<Record<string, string>> }).selector,
      );
      const { labels } = job.spec.template.metadata;
      expect(Object.entries(selector).every(([label, value]) => labels[label] === value)).toBe(false);
      expect(labels["app.kubernetes.io/component"]).toBe("database");
    });

    test("is copied by the same Job, with the password of the other one and its masks, without an image of data", async () => {
      const mask = ["UPDATE people SET name = '$(HOME)'", "TRUNCATE sessions"];
      const copy = {
        id: seed.id,
        format: "copy",
        host: "database.env-staging.svc",
        secret: "database-copy",
        mask,
        seconds: 60,
      };
      const objects = await rendered({ database: { ...seeded, seed: copy } });
      const { containers, volumes } = (objects.find(({ kind }) => kind === "Job") as Job).spec.template.spec;
      const [{ command, env }] = containers;
      expect(command.slice(5)).toEqual(["UPDATE people SET name = '$$(HOME)'", "TRUNCATE sessions"]);
      const secretKeyRef = { name: "database-copy", key: "DATABASE_PASSWORD" };
      expect(env).toContainEqual({ name: "DATABASE_PASSWORD", valueFrom: { secretKeyRef } });
      expect(env).toContainEqual({ name: "COPY_HOST", value: copy.host });
      expect(JSON.stringify(volumes)).not.toContain("image");
    });

    test("starts with the data of its seed or not at all, and its Job goes without a change of its pod", async () => {
      const before = await withDatabase({ database: { ...seeded, seed } });
      const after = await withDatabase({ database: seeded });
      expect(after.StatefulSet).toEqual(before.StatefulSet);
      const { command } = (after.StatefulSet as unknown as Deployment).spec.template.spec.containers[0] as {
        command?: string[];
      };
      const written = await Promise.all(["require-seed", "create-database", "database"].map(script));
      expect(command?.[2]).toBe(written.join("").replaceAll("$", "$$$$"));
      expect((await rendered({ database: seeded })).filter(({ kind }) => kind === "Job")).toEqual([]);
    });

    test("keeps the volume and runs no pod while it is suspended", async () => {
      const sleeping = await withDatabase(suspendedValues({ ...values, database }));
      expect(sleeping.StatefulSet).toMatchObject({ spec: { replicas: 0 } });
      expect(sleeping.PersistentVolumeClaim).toEqual((await withDatabase()).PersistentVolumeClaim);
    });
  });
});
