import { useState } from "preact/hooks";
import type { ListedEnvironmentReport, UpdateEnvironmentRequest } from "../../sdk/index.ts";
import { Dialog } from "../parts/dialog.tsx";
import { TextField } from "../parts/fields.tsx";
import { Form } from "../parts/form.tsx";
import { countText } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { tellFailure, tellOutcome } from "../platform/notices.ts";
import { may } from "../platform/user.ts";
import { doneText, refusedText, toEach } from "./bulk.ts";

interface BulkBarProps {
  readonly environments: readonly ListedEnvironmentReport[];
  readonly done: () => void;
}

type Act = Parameters<typeof toEach>[1];
/** Word to type before several are deleted. */
const CONFIRMATION = "delete";

/** Actions on all chosen environments. */
export function BulkBar({ environments, done }: BulkBarProps) {
  const [isBusy, setBusy] = useState(false);
  const [isDeleting, setDeleting] = useState(false);

  async function run(act: Act, what: string) {
    setBusy(true);
    const result = await toEach(environments, act);
    setBusy(false);
    if (result.done.length > 0) tellOutcome(doneText(result, what));
    if (result.refused.length > 0)
      tellFailure(`${countText(result.refused.length, "environment")} refused`, new Error(refusedText(result)));
    done();
  }
  const flip = (body: UpdateEnvironmentRequest, what: string) =>
    run(
      ({ id }) => platform.call("PATCH /api/v2/environments/{environment_id}", { path: { environment_id: id }, body }),
      what,
    );
  const remove: Act = ({ id }) =>
    platform.call("DELETE /api/v2/environments/{environment_id}", { path: { environment_id: id } });
  const button = (name: string, act: () => void) => (
    <button type="button" class="small" disabled={isBusy} onClick={act}>
      {name}
    </button>
  );
  return (
    <section class="bulk" aria-label="Chosen environments">
      <p>{countText(environments.length, "environment")} chosen</p>
      {may("environments:update") && (
        <>
          {button("Sleep", () => void flip({ suspended: true }, "being put to sleep"))}
          {button("Wake", () => void flip({ suspended: false }, "being woken"))}
          {button("Protect", () => void flip({ protected: true }, "protected"))}
          {button("Unprotect", () => void flip({ protected: false }, "not protected any more"))}
        </>
      )}
      {may("environments:delete") && button("Delete…", () => setDeleting(true))}
      {isDeleting && (
        <Dialog title={`Delete ${countText(environments.length, "environment")}`} onClose={() => setDeleting(false)}>
          <p>Their data goes with them. Protected ones are refused.</p>
          <ul class="names">
            {environments.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
          </ul>
          <DeleteAll remove={() => run(remove, "being deleted")} cancel={() => setDeleting(false)} />
        </Dialog>
      )}
    </section>
  );
}

function DeleteAll({ remove, cancel }: { readonly remove: () => Promise<void>; readonly cancel: () => void }) {
  const [typed, setTyped] = useState("");
  return (
    <Form submit={remove} label="Delete them" isDangerous isIncomplete={typed !== CONFIRMATION} onCancel={cancel}>
      {() => (
        <TextField
          label={`Type “${CONFIRMATION}” to go on`}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
    </Form>
  );
}
