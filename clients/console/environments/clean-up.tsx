import { useState } from "preact/hooks";
import type { Reply } from "../../sdk/index.ts";
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

const CLEAN_UP = "POST /api/v2/environments/cleanup-failed";

const cleanUp = (isDryRun: boolean, signal?: AbortSignal) =>
  platform.call(CLEAN_UP, {
    body: { dry_run: isDryRun },
    ...(signal && { signal }),
  });

const idsOf = (reply: Reply<typeof CLEAN_UP> | undefined) =>
  reply?.cleaned
    .map(({ id }) => id)
    .sort()
    .join();

function Preview({ close }: { readonly close: () => void }) {
  const preview = useLoaded("clean-up", (signal) => cleanUp(true, signal));
  /** Looks once more before it deletes: the list may have changed while it was read. */
  async function submit() {
    if (idsOf(await cleanUp(true)) !== idsOf(preview.value)) {
      preview.reload();
      throw new Error("The list has changed meanwhile: read it again.");
    }
    const { message, errors } = await cleanUp(false);
    if (errors.length > 0) {
      preview.reload();
      throw new Error([message, ...errors.map(({ id, detail }) => `${id}: ${detail}`)].join("; "));
    }
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
