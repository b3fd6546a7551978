import { useState } from "preact/hooks";
import type { EnvironmentReport, UpdateEnvironmentRequest } from "../../sdk/index.ts";
import { rests } from "../environments/rests.ts";
import { platform } from "../platform/client.ts";
import { tell } from "../platform/notices.ts";
import { may } from "../platform/user.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { ExtendDialog } from "./extend-dialog.tsx";
import { ResetDialog } from "./reset-dialog.tsx";
import { SleepDialog } from "./sleep-dialog.tsx";

/** Actions on an environment that the reader may take. */
export function Actions({ environment }: { readonly environment: EnvironmentReport }) {
  const [open, setOpen] = useState<"extend" | "sleep" | "reset" | "delete">();
  const [isBusy, setBusy] = useState(false);
  const { id, name, status } = environment;
  const isResting = rests(environment);
  const path = { environment_id: id };
  if (status === "terminating") return null;

  async function run(work: Promise<unknown>, done: string, notDone: string) {
    setBusy(true);
    await tell(work, done, notDone);
    setBusy(false);
  }
  const flip = (body: UpdateEnvironmentRequest, done: string, notDone: string) =>
    void run(platform.call("PATCH /api/v2/environments/{environment_id}", { path, body }), done, notDone);
  const reconcile = () =>
    void run(
      platform.call("POST /api/v2/environments/{environment_id}/reconcile-status", { path }),
      `${name} has been looked at again`,
      `${name} can't be looked at again`,
    );
  return (
    <>
      {may("environments:update") && (
        <>
          <button type="button" onClick={() => setOpen("extend")}>
            Extend…
          </button>
          <button
            type="button"
            disabled={isBusy}
            onClick={() =>
              isResting
                ? flip({ suspended: false }, `${name} is being woken`, `${name} can't be woken`)
                : flip({ suspended: true }, `${name} is being put to sleep`, `${name} can't be put to sleep`)
            }
          >
            {isResting ? "Wake" : "Sleep"}
          </button>
          <button type="button" onClick={() => setOpen("sleep")}>
            Hours…
          </button>
          <button
            type="button"
            disabled={isBusy}
            onClick={() =>
              environment.protected
                ? flip({ protected: false }, `${name} is not protected any more`, `${name} stays protected`)
                : flip({ protected: true }, `${name} is protected`, `${name} can't be protected`)
            }
          >
            {environment.protected ? "Unprotect" : "Protect"}
          </button>
          <button type="button" disabled={isBusy} onClick={reconcile}>
            Reconcile
          </button>
          {environment.configuration.database_provisioned && (
            <button type="button" onClick={() => setOpen("reset")}>
              Reset database…
            </button>
          )}
        </>
      )}
      {may("environments:delete") && (
        <button type="button" class="danger-quiet" onClick={() => setOpen("delete")}>
          Delete…
        </button>
      )}
      {open === "extend" && <ExtendDialog environment={environment} close={() => setOpen(undefined)} />}
      {open === "sleep" && <SleepDialog environment={environment} close={() => setOpen(undefined)} />}
      {open === "reset" && <ResetDialog environment={environment} close={() => setOpen(undefined)} />}
      {open === "delete" && <DeleteDialog environment={environment} close={() => setOpen(undefined)} />}
    </>
  );
}
