/** The settings that have no default. */
export const least = {
  baseDomain: "env.test",
  defaultChart: { repoUrl: "https://git.test/chart.git", path: ".", revision: "main" },
};

/** The least settings and these issuers. */
export const withIssuers = (...issuers: readonly object[]) => ({
  ...least,
  api: { issuers: issuers.map((change) => ({ audience: "a", ...change })) },
});
/** The least settings and one issuer with this change. */
export const withIssuer = (change: object) => ({
  ...least,
  api: { issuers: [{ issuer: "https://i.test", audience: "a", ...change }] },
});
