import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { AuditRecord, AuditTrail } from "../../../operator/ports/audit-trail.ts";
import { unique } from "../../support/plane/people.ts";

/** A trail, and control of its storage. */
export interface AuditScene {
  readonly trail: AuditTrail;
  /** Makes the storage writable, or not. */
  setWritable(writable: boolean): Promise<void>;
  /** The ids of the kept records, in order. */
  kept(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** The record of a deletion. */
export function auditRecord(auditId: string): AuditRecord {
  return {
    auditId,
    requestId: "request",
    event: "change",
    action: "deleteEnvironment",
    from: "203.0.113.7",
    actor: { subject: "https://login.example.test#dev", method: "id_token" },
    objects: [{ name: "shop", uid: "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10" }],
    target: "shop",
    outcome: "accepted",
    status: 200,
  };
}

export function auditTrailSuite(title: string, start: () => Promise<AuditScene>): void {
  describe(`the audit trail, ${title}`, () => {
    let scene: AuditScene;
    beforeAll(async () => {
      scene = await start();
    });
    afterAll(() => scene.stop());

    const someIds = () => [unique("a-"), unique("b-"), unique("c-")];
    const addAll = (ids: readonly string[]) => Promise.all(ids.map((id) => scene.trail.add(auditRecord(id))));

    test("keeps records in the order in which they came, also those that came together", async () => {
      const ids = someIds();
      await addAll(ids);
      expect(await scene.kept()).toEqual(ids);
      expect(await scene.trail.isKept()).toBe(true);
    });

    test("fails no caller while records can't be kept, says so, and keeps them later: each once, in order", async () => {
      const before = await scene.kept();
      const [first, second] = [someIds(), someIds()];
      await scene.setWritable(false);
      expect(await scene.trail.isKept()).toBe(false);
      await addAll(first);
      await addAll(second);
      expect(await scene.trail.isKept()).toBe(false);
      await scene.setWritable(true);
      expect(await scene.trail.isKept()).toBe(true);
      expect(await scene.kept()).toEqual([...before, ...first, ...second]);
    });
  });
}
