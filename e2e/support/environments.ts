import { randomBytes } from "node:crypto";
import { expect } from "@jest/globals";
import type { CreateEnvironmentRequest } from "../../clients/sdk/index.ts";
import { ask } from "./api.ts";
import { kubectl, list, type Resource, read, waitFor } from "./kubectl.ts";
import { names } from "./site.ts";

/** The fields of the resource that the tests read. */
export type Environment = Resource<{
  readonly spec: { readonly ttlHours?: number };
  readonly status?: {
    readonly phase: string;
    readonly expiresAt?: string;
    readonly readyAt?: string;
    readonly url?: string;
    readonly urls?: { readonly backend: string; readonly frontend?: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}>;

/** The reply to a creation. */
export interface Created {
  readonly status: string;
  readonly environment: { readonly id: string; readonly name: string };
}

/** The names that one test file gives to its environments; no other file, run or user has them. */
export class Environments {
  /** Part of every name. */
  readonly mark = randomBytes(4).toString("hex");
  private readonly given = new Set<string>();

  /** A new name. */
  name(purpose: string): string {
    const name = `e2e-${purpose}-${this.mark}`;
    this.given.add(name);
    return name;
  }

  /** Takes an environment that got its name from elsewhere among those that `removeAll` deletes. */
  adopt(name: string): void {
    this.given.add(name);
  }

  /** Deletes what is left of them and waits until all of it is gone. */
  async removeAll(): Promise<void> {
    if (this.given.size === 0) return;
    await kubectl("delete", "eenv", ...this.given, "--ignore-not-found", "--wait=false");
    for (const name of this.given) await untilGone(name);
  }
}

/** The objects of that name in the cluster, in any case of letters: the environment and those that the platform makes for it. */
export async function objectsNamed(name: string): Promise<readonly string[]> {
  const found = await Promise.all([
    list("eenv,namespaces"),
    list("applications,appprojects,secrets", `--namespace=${names.deployerNamespace}`),
    list("secrets", `--namespace=${names.secretStoreNamespace}`),
  ]);
  const all = found.flat().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  return all.filter((object) => object.includes(name.toLowerCase()));
}

/** A creation as the REST interface takes it: backend and frontend of the sample, for an hour at most. */
export function creation(environment_name: string): CreateEnvironmentRequest {
  return {
    environment_name,
    backend_repo: "sample-backend",
    backend_branch: "main",
    frontend_repo: "sample-frontend",
    frontend_branch: "main",
    ttl: 1,
  };
}

/** Creates it through the REST interface and answers its id. */
export async function create(name: string): Promise<string> {
  const { status, body } = await ask<Created>("POST", "/environments", { body: creation(name) });
  expect({ status, body }).toMatchObject({ status: 200, body: { environment: { name } } });
  return body.environment.id;
}

/** The resource as it is now. */
export async function find(name: string): Promise<Environment> {
  return (await read("eenv", name)) as Environment;
}

/** Waits for the environment to be ready; when it does not come to that, says which condition is in the way. */
export async function untilReady(name: string): Promise<Environment> {
  try {
    await waitFor(["--for=condition=Ready", `eenv/${name}`]);
  } catch (cause) {
    const { status } = await find(name);
    throw new Error(`'${name}' is not ready: ${JSON.stringify(status?.conditions)}`, { cause });
  }
  return find(name);
}

/** Waits until the resource is gone; it goes last. */
export async function untilGone(name: string): Promise<void> {
  await waitFor(["--for=delete", `eenv/${name}`]);
}

/** Everything that stands for that environment, one line each, sorted; the uids tell a repetition from the first. */
export async function madeFor(uid: string): Promise<readonly string[]> {
  const kinds = "namespaces,secrets,applications,appprojects,networkpolicies,resourcequotas,limitranges,deployments";
  const found = await list(kinds, "--all-namespaces", `--selector=${names.uidLabel}=${uid}`);
  return found.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`).sort();
}

/**
 * What the platform made for that environment and nobody changes while nothing happens, with uids and versions: any write
 * shows.
 */
export async function childrenOf(uid: string): Promise<readonly string[]> {
  const kinds = "namespaces,secrets,appprojects,networkpolicies,resourcequotas,limitranges,rolebindings,deployments";
  const found = await list(kinds, "--all-namespaces", `--selector=${names.uidLabel}=${uid}`);
  return found
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
    .sort();
}
