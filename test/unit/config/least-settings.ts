/** The required settings. */
export const least = {
  baseDomain: "env.test",
  defaultChart: { repoUrl: "https://git.test/chart.git", path: ".", revision: "main" },
};

/** The required settings with these issuers. */
export const withIssuers = (...issuers: readonly object[]) => ({
  ...least,
  api: { issuers: issuers.map((change) => ({ audience: "a", ...change })) },
});
/** The required settings with one issuer with this change. */
export const withIssuer = (change: object) => ({
  ...least,
  api: { issuers: [{ issuer: "https://i.test", audience: "a", ...change }] },
});
