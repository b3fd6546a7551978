import { afterAll, afterEach, beforeAll } from "@jest/globals";
import type { SecretManager } from "../../../operator/ports/secret-manager.ts";
import {
  type GoogleSecretManagerServer,
  googleManager,
  startGoogleSecretManager,
} from "../../support/doubles/google-secret-manager.ts";

/** The error of a call; `undefined` without one. */
export const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

/** A Google Secret Manager with a test's faults, and two adapters. */
export function googleSecretManagers() {
  let server: GoogleSecretManagerServer;
  let manager: SecretManager;
  let other: SecretManager;

  beforeAll(async () => {
    server = await startGoogleSecretManager();
    [manager, other] = [googleManager(server), googleManager(server)];
  });
  afterEach(() => server.intercept(undefined));
  afterAll(async () => {
    await Promise.all([manager.close(), other.close()]);
    await server.stop();
  });

  return {
    get server() {
      return server;
    },
    get manager() {
      return manager;
    },
    get other() {
      return other;
    },
  };
}
