import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { countText } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { tellOutcome } from "../platform/notices.ts";

/** Deletes all failed environments, after a list of them. */
export function CleanUp() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Clean up failed…
      </button>
      {isOpen && (
        <Dialog title="Clean up failed environments" onClose={() => setOpen(false)}>
          <Preview close={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

const cleanUp = (isDryRun: boolean, signal?: AbortSignal) =>
  platform.call("POST /api/v2/environments/cleanup-failed", {
    body: { dry_run: isDryRun },
    ...(signal && { signal }),
  });

function Preview({ close }: { readonly close: () => void }) {
  const preview = useLoaded("clean-up", (signal) => cleanUp(true, signal));
  async function submit() {
    const { message } = await cleanUp(false);
    tellOutcome(message);
    close();
  }
  return (
    <LoadedView of={preview} what="The preview">
      {({ cleaned, skipped }) => (
        <>
          <p>{countText(cleaned.length, "environment")} would be deleted.</p>
          <ul class="names">
            {cleaned.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
            {skipped.map(({ id, name, reason }) => (
              <li key={id} class="quiet">
                {name} stays: {reason}
              </li>
            ))}
          </ul>
          <Form submit={submit} label="Delete them" isDangerous isIncomplete={cleaned.length === 0} onCancel={close}>
            {() => null}
          </Form>
        </>
      )}
    </LoadedView>
  );
}
