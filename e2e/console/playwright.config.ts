import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { site, stateFolder } from "../support/site.ts";

/** Debian's: Playwright's package lacks its own browsers. */
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell";
/** Browsers keep TLS-only cookies for this name, and not for an address. */
const consoleUrl = site.apiUrl.replace("127.0.0.1", "localhost");

/** Browser tests of the web console on the local cluster. */
export default defineConfig({
  testDir: ".",
  projects: [
    { name: "together", testIgnore: "alone/**" },
    // Each test here breaks a dependency of others.
    { name: "alone", testMatch: "alone/**" },
  ],
  outputDir: join(stateFolder, "playwright"),
  // The machine runs the local cluster, too.
  workers: 1,
  // A test that begins with real pods may wait for the request limit more than once.
  timeout: 360_000,
  // Beyond the request limit the page waits for the minute's end.
  expect: { timeout: 90_000 },
  reporter: [["list"], ["json", { outputFile: process.env.PLAYWRIGHT_RESULT ?? join(stateFolder, "playwright.json") }]],
  use: {
    baseURL: consoleUrl,
    viewport: { width: 1280, height: 860 },
    contextOptions: { reducedMotion: "reduce" },
    screenshot: "only-on-failure",
    launchOptions: { executablePath: BROWSER },
  },
});
