import { environmentKind } from "../../crds/environment/ephemeral-environment.ts";
import { insteadOf, isNotFound } from "../kit/client/errors.ts";
import { type KubeObject, resourceType } from "../kit/client/objects.ts";
import type { Check } from "./check.ts";
import { type ReportOptions, report } from "./report.ts";

/** Further ones are counted, to keep the message readable. */
const MOST_BY_NAME = 10;

const environments = resourceType<KubeObject>(environmentKind);

/** Checks that no environments are left, which nothing would repair, expire or delete without the platform. */
export function checkRemoval(options: Omit<ReportOptions, "deadlineMs">): Promise<boolean> {
  // Environments end only by a deletion, so there is nothing to wait for.
  return report([removalCheck], { ...options, deadlineMs: 0 });
}

const removalCheck: Check = {
  name: "no environment is left",

  async problems({ client }) {
    const nothing = { items: [] };
    // Without the kind there are no environments.
    const { items } = await client
      .list(environments, { metadataOnly: true })
      .catch(insteadOf(isNotFound, nothing as { items: KubeObject[] }));
    const names = items.map(({ metadata }) => metadata.name).sort();
    return names.length === 0 ? [] : [problem(names)];
  },
};

function problem(names: readonly string[]): string {
  const others = names.length - MOST_BY_NAME;
  const named = names.slice(0, MOST_BY_NAME).join(", ") + (others > 0 ? ` and ${others} more` : "");
  return `${named}: delete them first (kubectl delete eenv --all), or call helm uninstall with --no-hooks: then they stay, and nothing deletes them when they expire`;
}
