import type { EnvironmentFacts } from "../../../../crds/chart-values/references.ts";

const ofBackend = {
  image: "registry.test:5000/shop/api:0a1b2c3",
  commit: "0a1b2c3",
  branch: "feature/a",
  host: "shop--api.env.test",
  url: "https://shop--api.env.test",
  port: 8080,
  env: [
    { name: "LEVEL", value: "info" },
    { name: "TRACE", value: "1" },
  ],
  pullPolicy: "IfNotPresent",
  replicas: 2,
  resources: { requests: { cpu: "1" } },
};

/** The facts of an environment with a backend alone, with all optional ones. */
export const facts: EnvironmentFacts = {
  environment: { name: "shop", uid: "0a1b2c3d-1111-4222-8333-444455556666" },
  components: { backend: ofBackend },
  hosts: [{ name: "admin", host: "shop--admin.env.test", url: "https://shop--admin.env.test" }],
  secretName: "environment-secrets-0a1b2c3d",
  imagePullSecrets: [{ name: "image-pull" }],
  database: { host: "database", user: "app", name: "app" },
  ingress: { className: "internal", annotations: { "example.test/tls": "true" } },
  suspended: false,
};

/** The facts of a suspended environment, without optional ones. */
export const asleep: EnvironmentFacts = {
  ...facts,
  components: { backend: { ...ofBackend, env: [], replicas: undefined, resources: undefined } },
  hosts: [],
  imagePullSecrets: undefined,
  database: undefined,
  ingress: { className: undefined, annotations: {} },
  suspended: true,
};
