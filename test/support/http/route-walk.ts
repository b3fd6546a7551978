import { type Contract, type Version, versionedPath, versionsOf } from "../../../api/route.ts";
import { listRoutes } from "../../../api/routes.ts";
import type { ApiService } from "./api-service.ts";
import { fixtureOf, type RouteCall } from "./route-calls.ts";

export const routes: readonly Contract[] = listRoutes().map(({ contract }) => contract);

/** Routes in each of their versions. */
export const walk = routes.flatMap((contract) =>
  versionsOf(contract).map((version) => ({
    contract,
    version,
    name: `${contract.method.toUpperCase()} ${versionedPath(contract, version)}`,
  })),
);

/** Routes with access control. */
export const guarded = walk.filter(({ contract }) => contract.access !== "public");

/** A route in a version, at a service. */
export interface Served {
  readonly service: ApiService;
  readonly contract: Contract;
  readonly version: Version;
}

export function send({ service, contract, version }: Served, call: RouteCall, authorization?: string) {
  const path = versionedPath(contract, version).replaceAll(/\{(\w+)\}/g, (_all, name) => call.params?.[name] ?? "x");
  const request = service.http[contract.method](path)
    .query(call.query ?? {})
    .set(call.headers ?? {})
    .send(call.body);
  return authorization === undefined ? request : request.set("authorization", authorization);
}

/** The same call about a missing object. */
export function absentCall({ operationId }: Contract, call: RouteCall): RouteCall {
  return { ...call, params: { ...call.params, ...fixtureOf(operationId).absent?.params } };
}

/** All objects, one text each: an unauthorized call changes none. New ports are added here. */
export function worldOf({ environments, configSets, apiTokens, webhookDeliveries }: ApiService): readonly string[] {
  const all = [...environments.list(), ...configSets.list(), ...apiTokens.list(), ...webhookDeliveries.list()];
  return all.map((object) => JSON.stringify(object));
}
