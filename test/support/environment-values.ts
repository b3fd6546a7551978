import type { Manifest } from "../../deploy/local/api-client.ts";
import { renderChart } from "../../deploy/local/helm.ts";

const component = (host: string) => ({
  image: "docker.io/local/sample:0123456",
  port: 8080,
  healthPath: "/healthz",
  host,
  url: `https://${host}:18443`,
});

/** The values that the operator gives the environment chart, for an environment of that name with both components. */
export function environmentValues(name: string, uid = "11111111-2222-4333-8444-555555555555") {
  return {
    environment: { name, uid },
    backend: component(`${name}--api.env.localhost`),
    frontend: component(`${name}.env.localhost`),
    secret: { name: "environment-secrets-0a1b2c3d" },
  };
}

/** What the environment chart becomes with these values, as Argo CD renders it. */
export function renderEnvironment(name: string, values: object | string): Promise<Manifest[]> {
  return renderChart({ chart: "environment", release: "environment", namespace: `env-${name}`, values });
}
