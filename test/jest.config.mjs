import { fileURLToPath } from "node:url";
import { foreignFolders, projectFolders } from "./stages/projects.ts";

/** A project per kind of test, so that each can run alone. */
const common = {
  rootDir: fileURLToPath(new URL("..", import.meta.url)),
  testRunner: "<rootDir>/test/runner/native.ts",
  transform: {},
  modulePathIgnorePatterns: ["<rootDir>/.local", "<rootDir>/dist"],
};
const project = (displayName, more = {}) => ({
  ...common,
  displayName,
  testMatch: [`<rootDir>/${projectFolders[displayName]}/**/*.test.ts`],
  testPathIgnorePatterns: ["/node_modules/", ...foreignFolders(displayName)],
  ...more,
});

/** Each worker of these projects has a real control plane, from its first suite to the run's end. */
const onControlPlane = {
  globalSetup: "<rootDir>/test/support/plane/control-plane-start.ts",
  globalTeardown: "<rootDir>/test/support/plane/control-plane-stop.ts",
};

export default {
  testSequencer: fileURLToPath(new URL("longest-first.mjs", import.meta.url)),
  // Concurrent tests of one file mostly wait, on the cluster and not on each other.
  maxConcurrency: 10,
  // For a shared machine: inner deadlines report what hangs.
  testTimeout: 30_000,
  projects: [
    project("unit"),
    project("contract"),
    project("ports", onControlPlane),
    project("control-plane", onControlPlane),
    project("faults", onControlPlane),
    project("e2e"),
    project("e2e-alone"),
    project("e2e-install"),
    project("e2e-install-scenes"),
  ],
};
