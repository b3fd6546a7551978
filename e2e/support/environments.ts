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

export interface Created {
  readonly status: string;
  readonly environment: { readonly id: string; readonly name: string };
}

/** The unique names of one test file's environments. */
export class Environments {
  /** Part of every name. */
  readonly mark = randomBytes(4).toString("hex");
  private readonly given = new Set<string>();

  name(purpose: string): string {
    const name = `e2e-${purpose}-${this.mark}`;
    this.given.add(name);
    return name;
  }

  /** Adds an environment with another name to those that `removeAll` deletes. */
  adopt(name: string): void {
    this.given.add(name);
  }

  /** Deletes remaining environments and waits until all of them are gone. */
  async removeAll(): Promise<void> {
    if (this.given.size === 0) return;
    await kubectl("delete", "eenv", ...this.given, "--ignore-not-found", "--wait=false");
    for (const name of this.given) await untilGone(name);
  }
}

/** The environment of that name and the objects that the platform creates for it, ignoring letter case. */
export async function objectsNamed(name: string): Promise<readonly string[]> {
  const found = await Promise.all([
    list("eenv,namespaces"),
    list("applications,appprojects,secrets", `--namespace=${names.deployerNamespace}`),
    list("secrets", `--namespace=${names.secretStoreNamespace}`),
  ]);
  const all = found.flat().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  return all.filter((object) => object.includes(name.toLowerCase()));
}

/** A creation for the REST interface: backend and frontend of the sample, for an hour at most. */
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

/** Creates an environment through the REST interface and answers its id. */
export async function create(name: string): Promise<string> {
  const { status, body } = await ask<Created>("POST", "/environments", { body: creation(name) });
  expect({ status, body }).toMatchObject({ status: 200, body: { environment: { name } } });
  return body.environment.id;
}

export async function find(name: string): Promise<Environment> {
  return (await read("eenv", name)) as Environment;
}

/** Waits until the platform has checked the Repository: before that, REST does not know it. */
export function untilRegistered(repository: string): Promise<void> {
  return waitFor(["--for=condition=Ready", `erepo/${repository}`, "--namespace=ephemeral-system"]);
}

/** Waits until the environment is ready; fails with the condition that is in the way. */
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

/** Objects of that environment, one sorted line each; the uids distinguish a second creation from the first. */
export async function madeFor(uid: string): Promise<readonly string[]> {
  const kinds = "namespaces,secrets,applications,appprojects,networkpolicies,resourcequotas,limitranges,deployments";
  const found = await list(kinds, "--all-namespaces", `--selector=${names.uidLabel}=${uid}`);
  return found.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`).sort();
}

/**
 * The platform's objects for that environment that stay unchanged in a steady state, with uids and versions: any write
 * shows.
 */
export async function childrenOf(uid: string): Promise<readonly string[]> {
  const kinds = "namespaces,secrets,appprojects,networkpolicies,resourcequotas,limitranges,rolebindings,deployments";
  const found = await list(kinds, "--all-namespaces", `--selector=${names.uidLabel}=${uid}`);
  return found
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
    .sort();
}
