import { afterEach, beforeEach } from "@jest/globals";
import type { AuditRecord } from "../../../operator/ports/audit-trail.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

export const requested = { environment_name: "noted", backend_repo: "shop-api", backend_branch: "main" };

/** An API that records its calls, new for each test. */
export function auditedCalls() {
  let service: ApiService;

  beforeEach(async () => {
    service = await startApiService({ limits: { unauthenticatedPerMinute: 2 } });
  });
  afterEach(() => service.stop());
  const as = async (person: Person) => ({ authorization: await service.bearer(person) });
  const create = async (person: Person = "developer") => {
    const reply = await service.http
      .post("/api/environments")
      .set(await as(person))
      .send(requested);
    return reply.body.environment?.id as string;
  };
  const records = (): readonly AuditRecord[] => service.audit.records;

  return {
    get service() {
      return service;
    },
    set service(value) {
      service = value;
    },
    as,
    create,
    records,
  };
}
