import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { site, stateFolder } from "../support/site.ts";

/** Debian's: Playwright's own browsers are not in its package. */
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell";
/** Cookies that are for TLS alone are kept for this name, and not for an address. */
const consoleUrl = site.apiUrl.replace("127.0.0.1", "localhost");

/** Stories of the web console, told by a browser on the local cluster. */
export default defineConfig({
  testDir: ".",
  projects: [
    { name: "together", testIgnore: "alone/**" },
    // Every story here breaks what others need.
    { name: "alone", testMatch: "alone/**" },
  ],
  outputDir: join(stateFolder, "playwright"),
  // The machine has the local cluster to run, too.
  workers: 1,
  // A story that begins with real pods, and may have to wait for the limit of requests more than once.
  timeout: 360_000,
  // Beyond the limit of requests the page waits for the minute's end.
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
