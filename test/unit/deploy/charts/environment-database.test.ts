import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { suspendedValues } from "../../../../operator/controllers/environment/desired/values.ts";
import { type Deployment, database, rendered, values } from "./rendered-environment.ts";

describe("the environment chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  describe("with a database", () => {
    const withDatabase = async (change: object = {}) => {
      const objects = await rendered({ database, ...change });
      const ofDatabase = objects.filter(({ metadata }) => metadata.name === "database");
      return Object.fromEntries(ofDatabase.map((object) => [object.kind, object]));
    };

    test("has a StatefulSet of one pod, its volume and its Service, and all else as without", async () => {
      const { PersistentVolumeClaim: claim, Service: service, StatefulSet: set, ...others } = await withDatabase();
      expect(others).toEqual({});
      expect(claim?.spec).toEqual({ accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } });
      const template = { spec: { containers: [{ image: "postgres:18" }] } };
      expect(set).toMatchObject({ spec: { replicas: 1, serviceName: "database", template } });
      const selector = { "app.kubernetes.io/name": "database", "app.kubernetes.io/part-of": "shop" };
      expect(service).toMatchObject({ spec: { type: "ClusterIP", selector, ports: [{ port: 5432 }] } });
      expect(set).toMatchObject({ spec: { selector: { matchLabels: selector } } });
      const rest = (await rendered({ database })).filter(({ metadata }) => metadata.name !== "database");
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
      const script = await readFile("deploy/charts/environment/files/database.sh", "utf8");
      expect(command).toEqual(["/bin/sh", "-c", script.replaceAll("$", "$$$$")]);
    });

    test("asks for the storage class that is named", async () => {
      const { PersistentVolumeClaim: claim } = await withDatabase({ database: { ...database, storageClass: "fast" } });
      expect(claim).toMatchObject({ spec: { storageClassName: "fast" } });
    });

    test("keeps the volume and runs no pod while it is suspended", async () => {
      const sleeping = await withDatabase(suspendedValues({ ...values, database }));
      expect(sleeping.StatefulSet).toMatchObject({ spec: { replicas: 0 } });
      expect(sleeping.PersistentVolumeClaim).toEqual((await withDatabase()).PersistentVolumeClaim);
    });
  });
});
