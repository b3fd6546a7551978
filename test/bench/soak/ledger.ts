import { PlatformError } from "../../../clients/sdk/index.ts";

/** An environment as its owner left it. */
export interface Left {
  readonly commit: string;
  /** Absent: the Repository decides. */
  readonly ttlHours?: number;
  readonly isSuspended: boolean;
}

/** Everything that the platform has acknowledged. */
export class Ledger {
  /** Environments by name; `undefined`: deleted. */
  readonly environments = new Map<string, Left | undefined>();
  /** Answers that no client should get, as sentences. */
  readonly unexpected: string[] = [];
  deeds = 0;

  /**
   * Does something, and notes what came of it once the platform has acknowledged it; a refusal is noted as an unexpected answer.
   */
  async note(what: string, deed: () => Promise<unknown>, acknowledged: () => void = () => undefined): Promise<void> {
    this.deeds += 1;
    try {
      await deed();
      acknowledged();
    } catch (error) {
      const answer = error instanceof PlatformError ? `${error.status} ${error.message}` : String(error);
      this.unexpected.push(`${what}: ${answer}`);
    }
  }
}
