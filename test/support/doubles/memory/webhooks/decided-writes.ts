import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { NameExists } from "../../../../../crds/errors.ts";
import type { DecidedWrites } from "../../../../../operator/ports/environments.ts";
import type { MemoryEnvironments } from "../environments.ts";

export function memoryDecidedWrites(environments: MemoryEnvironments): DecidedWrites {
  return {
    findNow: (name) => environments.find(name),
    async create(name, spec, _auditId, annotations = {}) {
      try {
        const { metadata, ...made } = await environments.create(name, spec);
        environments.put({
          ...made,
          metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
        });
        return (await environments.find(name)) ?? "changed";
      } catch (error) {
        if (error instanceof NameExists) return "changed";
        throw error;
      }
    },
    async revise(environment, spec, _auditId, annotations = {}) {
      const current = await environments.reread(environment);
      if (current?.metadata.resourceVersion !== environment.metadata.resourceVersion) return "changed";
      const { name, generation, annotations: former } = current.metadata;
      environments.put({
        ...current,
        spec: merged(current.spec, spec) as EphemeralEnvironment["spec"],
        metadata: {
          ...current.metadata,
          generation: generation + 1,
          annotations: merged(former, annotations) as Record<string, string>,
        },
      });
      return (await environments.find(name)) ?? "changed";
    },
    remove: (environment) => environments.remove(environment, { onlyThisVersion: true }),
  };
}

function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(target as object) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else if (value !== undefined) result[name] = merged(result[name], value);
  }
  return result;
}
