/** The imports that a folder may have beside those of its own files. */
export interface Zone {
  /** A path from the root; a last `*` stands for each folder there. The longest that fits a file holds. */
  readonly folder: string;
  /** Folders and files whose imports are allowed. */
  readonly may: readonly string[];
  /** Folders and files of which types alone are allowed. */
  readonly types?: readonly string[];
}

/** Rooms of the operator, and adapters, know ports, never what stands behind them; settings come in as values. */
const DOMAIN = { may: ["crds", "operator/kit", "operator/ports"], types: ["config"] };
/** The rooms that several controllers use. */
const SHARED = [
  "operator/announcements",
  "operator/host-reports",
  "operator/repository-access",
  "operator/rollups",
  "operator/webhooks",
];
/** A `generate.ts` also reads the OpenAPI document, which is no source. */
const GENERATED = ["clients", "crds/generated.ts"];

/** All folders of the checkout that have sources; CONTRIBUTING.md has the same table for readers. */
export const ZONES: readonly Zone[] = [
  { folder: "crds", may: [] },
  { folder: "config", may: ["crds"] },
  { folder: "operator/kit", may: [] },
  { folder: "operator/masking", may: [] },
  { folder: "operator/ports", may: ["crds", "operator/kit"] },
  { ...DOMAIN, folder: "operator/*" },
  { ...DOMAIN, folder: "operator/adapters", may: [...DOMAIN.may, "operator/masking"] },
  { ...DOMAIN, folder: "operator/webhooks", may: [...DOMAIN.may, "operator/announcements", "operator/host-reports"] },
  { ...DOMAIN, folder: "operator/controllers/*", may: [...DOMAIN.may, ...SHARED] },
  // The sweep ends what a deletion left, by the same teardown.
  {
    ...DOMAIN,
    folder: "operator/controllers/garbage-collection",
    may: [...DOMAIN.may, ...SHARED, "operator/controllers/environment/deletion"],
  },
  // The list of the controllers.
  { folder: "operator/controllers", may: ["operator/kit"] },
  { folder: "operator/wiring", may: ["crds", "operator"], types: ["config"] },
  // Only operator/main.ts and its neighbours join the operator and the API.
  { folder: "operator", may: ["api", "config", "crds"] },
  {
    folder: "api",
    may: [
      "crds",
      "operator/ports",
      "operator/kit/bounded-cache.ts",
      "operator/kit/body-memory.ts",
      "operator/kit/log.ts",
      "operator/kit/time/clock.ts",
      "operator/kit/time/yield-if-due.ts",
      "operator/kit/tracing.ts",
    ],
    types: ["config"],
  },
  { folder: "clients", may: [] },
  { folder: "clients/sdk/generate.ts", may: GENERATED },
  { folder: "clients/cli/mcp/generate.ts", may: GENERATED },
  { folder: "deploy", may: ["config", "crds"] },
  { folder: "deploy/build", may: [] },
  { folder: "deploy/dashboards", may: ["config", "crds", "deploy"], types: ["operator/adapters/prometheus"] },
  { folder: "deploy/local/kind", may: ["config", "crds", "deploy", "e2e/kind.ts"] },
  { folder: "e2e", may: ["clients/sdk"] },
  {
    folder: "test",
    may: ["api", "clients", "config", "crds", "deploy", "e2e/kind.ts", "e2e/support", "operator"],
  },
];

/** Folders whose folders import each other in one direction alone. */
export const WITHOUT_CIRCLES: readonly string[] = [
  "api",
  "crds",
  "operator",
  "operator/adapters",
  "operator/controllers",
  "operator/ports",
  "deploy",
  "deploy/local",
  "clients/console",
  "test/support",
];
