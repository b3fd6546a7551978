import { namespaceName } from "../../../crds/names.ts";
import { printable } from "../../masking/secret-mask.ts";
import type { Cluster } from "../../ports/cluster.ts";
import type { DeployerEntry, DeployerLog } from "../../ports/deployer.ts";
import { forUser } from "../kubernetes/user-request.ts";
import { type ApplicationStatus, isFailed, type OperationState } from "./application-status.ts";
import { applicationKind } from "./kinds.ts";
import type { ArgocdSettings } from "./objects.ts";

/** An entry with a possibly missing or unreadable time. */
type LogEntry = Omit<DeployerEntry, "at"> & { readonly at: string | undefined };

/** DeployerLog port on Argo CD's Application: a fresh read, because the cache keeps little of its status. */
export function argocdDeployerLog(cluster: Pick<Cluster, "read">, settings: ArgocdSettings): DeployerLog {
  return {
    async entries(environment) {
      const ref = { name: namespaceName(environment.name), namespace: settings.namespace };
      const found = await forUser(() => cluster.read(environment, applicationKind, ref));
      const entries = entriesOf((found?.status ?? {}) as ApplicationStatus).map(({ at = "", level, message }) => ({
        at: new Date(at),
        level,
        message: printable(message),
      }));
      const dated = entries.filter(({ at }) => !Number.isNaN(at.getTime()));
      return dated.sort(({ at: one }, { at: other }) => one.getTime() - other.getTime());
    },
  };
}

function entriesOf(status: ApplicationStatus): readonly LogEntry[] {
  const { conditions = [], operationState = {} } = status;
  return [
    ...conditions.map(({ type, message = "", lastTransitionTime }) => ({
      at: lastTransitionTime ?? status.reconciledAt,
      level: levelOf(type),
      message: `${type}: ${message}`,
    })),
    ...operationEntries(operationState),
    ...healthEntries(status),
  ];
}

function levelOf(conditionType: string): DeployerEntry["level"] {
  if (conditionType.endsWith("Error")) return "ERROR";
  return conditionType.endsWith("Warning") ? "WARN" : "INFO";
}

function operationEntries({ phase, message = "", startedAt, finishedAt, syncResult }: OperationState): LogEntry[] {
  if (phase === undefined) return [];
  const at = finishedAt ?? startedAt;
  const level = isFailed(phase) ? "ERROR" : "INFO";
  const resources = (syncResult?.resources ?? []).map((resource): LogEntry => {
    const { kind, name, status = "", hookPhase = "", message: said = "" } = resource;
    const hasFailed = status === "SyncFailed" || isFailed(hookPhase);
    return { at, level: hasFailed ? "ERROR" : "INFO", message: `${kind} '${name}' ${status || hookPhase}: ${said}` };
  });
  return [...resources, { at, level, message: `Operation ${phase}: ${message}` }];
}

function healthEntries({ sync, health, resources = [], reconciledAt }: ApplicationStatus): LogEntry[] {
  const unhealthy = resources.filter((resource) => !isWell(resource.health?.status));
  const at = health?.lastTransitionTime ?? reconciledAt;
  const { status = "Unknown", message = "" } = health ?? {};
  return [
    ...unhealthy.map(({ kind, name, health: own }): LogEntry => {
      return { at, level: "WARN", message: `${kind} '${name}' ${own?.status}: ${own?.message ?? ""}` };
    }),
    {
      at,
      level: isWell(status) ? "INFO" : "WARN",
      message: `Application ${sync?.status ?? "Unknown"}, ${status}${message && `: ${message}`}`,
    },
  ];
}

/** Argo CD has no health for most kinds. */
const isWell = (status: string | undefined) => status === undefined || ["Healthy", "Suspended"].includes(status);
