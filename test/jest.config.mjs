import { fileURLToPath } from "node:url";

/** A project per kind of test, so that each can be called alone. */
const common = {
  rootDir: fileURLToPath(new URL("..", import.meta.url)),
  testRunner: "<rootDir>/test/runner/native.ts",
  transform: {},
  modulePathIgnorePatterns: ["<rootDir>/.local", "<rootDir>/dist"],
};
const project = (displayName, folder, more = {}) => ({
  ...common,
  displayName,
  testMatch: [`<rootDir>/${folder}/**/*.test.ts`],
  ...more,
});

/** Each worker of these projects has a real control plane, which its first suite starts and the run's end stops. */
const onControlPlane = {
  globalSetup: "<rootDir>/test/support/plane/control-plane-start.ts",
  globalTeardown: "<rootDir>/test/support/plane/control-plane-stop.ts",
};

/** These break the control plane, over and over. */
const FAULTS = "test/control-plane/faults";
/** Every story here breaks what others need. */
const ALONE = "e2e/alone";
/** These install the platform by helm, on a cluster without it. */
const INSTALL = "e2e/install";
/** Of these, what takes minutes. */
const SCENES = "e2e/install/scenes";

export default {
  testSequencer: fileURLToPath(new URL("longest-first.mjs", import.meta.url)),
  // Tests of one file that are told side by side wait for most of their time, on the cluster and not on each other.
  maxConcurrency: 10,
  // For a machine that is shared: what hangs is told by the deadline of what is waited for.
  testTimeout: 30_000,
  projects: [
    project("unit", "test/unit"),
    project("contract", "test/contract"),
    project("ports", "test/ports", onControlPlane),
    project("control-plane", "test/control-plane", { ...onControlPlane, testPathIgnorePatterns: [FAULTS] }),
    project("faults", FAULTS, onControlPlane),
    project("e2e", "e2e", { testPathIgnorePatterns: [ALONE, INSTALL] }),
    project("e2e-alone", ALONE),
    project("e2e-install", INSTALL, { testPathIgnorePatterns: [SCENES] }),
    project("e2e-install-scenes", SCENES),
  ],
};
