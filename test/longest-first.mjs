import Sequencer from "@jest/test-sequencer";

/**
 * The slowest files, which mostly wait. Started last, one would delay the whole run. Jest knows only earlier durations on
 * this machine, and otherwise sorts by size. `make test` prints the slowest files.
 */
const LONGEST = [
  "unit/operator/adapters/host-api/pull-request-host",
  "unit/deploy/image/image",
  "unit/deploy/release/publish",
  "unit/deploy/charts/environment",
  "unit/deploy/charts/platform-older-values",
  "contract/clients/cli/examples",
  "contract/clients/cli/commands",
  "control-plane/faults/missed",
  "control-plane/faults/servers",
  "control-plane/faults/plans",
  "control-plane/faults/pull-requests",
  "control-plane/faults/scenes",
  "control-plane/faults/ended-protection",
  "control-plane/failures/high-availability",
  "control-plane/failures/api-server-away",
  "control-plane/bench/operator",
  "control-plane/local/existing-cluster",
  "control-plane/failures/failures",
  "control-plane/failures/flow-control",
  "control-plane/installation/helm-release",
  "control-plane/metrics/prometheus",
  "control-plane/metrics/figures-survive",
  "control-plane/tracing",
  "control-plane/deletion/expiry",
  "control-plane/failures/two-replicas",
  "control-plane/api/limits-and-audit",
  "control-plane/deletion/expiration-limiter",
  "e2e/idle",
  "e2e/manifests",
  "e2e/failures",
  "e2e/chart-states",
  "e2e/database",
  "e2e/database-seed",
  "e2e/update-and-sleep",
];

/** The slowest files first, the others in Jest's order. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const rank = ({ path }) => {
      const place = LONGEST.findIndex((part) => path.includes(part));
      return place === -1 ? LONGEST.length : place;
    };
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
