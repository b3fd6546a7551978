import { memorySecretId, memorySecretManager } from "../../support/doubles/memory/secret-manager.ts";
import { secretManagerSuite } from "../suites/secret-manager.suite.ts";

secretManagerSuite("in memory", async () => {
  const manager = memorySecretManager();
  return {
    managers: [manager, manager],
    share: async (secret) => manager.share(secret),
    idOf: memorySecretId,
    stop: async () => undefined,
  };
});
