import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { environmentValues, renderEnvironment } from "../../../support/fixtures/environment/environment-values.ts";

export const values = environmentValues("shop");

export const database = { image: "postgres:18", user: "app", name: "app", sizeGi: 2 };

interface Container {
  readonly env: readonly { name: string; value: string }[];
  readonly resources: object;
  readonly [field: string]: unknown;
}
/** The fields of a Deployment that tests read. */
export interface Deployment extends Manifest {
  readonly spec: { replicas: number; template: { spec: { containers: [Container]; initContainers?: Container[] } } };
}

/** The objects of the environment chart with these changed values. */
export async function rendered(change: object = {}): Promise<Manifest[]> {
  return renderEnvironment("shop", { ...values, ...change });
}

export async function deployment(name: string, change: object = {}): Promise<Deployment> {
  const found = (await rendered(change)).find(({ kind, metadata }) => kind === "Deployment" && metadata.name === name);
  return found as Deployment;
}

/** The only container of the Deployment of that name. */
export async function container(name: string, change: object = {}): Promise<Container> {
  return (await deployment(name, change)).spec.template.spec.containers[0];
}
