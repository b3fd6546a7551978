/** Every suite runs as ES modules through swc; a project per kind of test, so that each can be called alone. */
const common = {
  rootDir: new URL("..", import.meta.url).pathname,
  testEnvironment: "node",
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": ["@swc/jest", { jsc: { parser: { syntax: "typescript" }, target: "es2023" }, module: { type: "es6" } }],
  },
  modulePathIgnorePatterns: ["<rootDir>/.local", "<rootDir>/dist"],
};
const project = (displayName, folder, more = {}) => ({ ...common, displayName, testMatch: [`<rootDir>/${folder}/**/*.test.ts`], ...more });

export default {
  projects: [
    project("unit", "test/unit"),
    project("contract", "test/contract"),
    project("ports", "test/ports"),
    project("control-plane", "test/control-plane"),
    project("e2e", "e2e"),
  ],
};
