import { useState } from "preact/hooks";
import type { EnvironmentReport } from "../../sdk/index.ts";
import { Dialog } from "../parts/dialog.tsx";
import { TextField } from "../parts/fields.tsx";
import { Form } from "../parts/form.tsx";
import { platform } from "../platform/client.ts";
import { tellOutcome } from "../platform/notices.ts";

interface DeleteDialogProps {
  readonly environment: EnvironmentReport;
  readonly close: () => void;
}

/** Deletes an environment whose name has been typed. */
export function DeleteDialog({ environment, close }: DeleteDialogProps) {
  const { id, name } = environment;
  const [typed, setTyped] = useState("");
  async function submit() {
    await platform.call("DELETE /api/v2/environments/{environment_id}", { path: { environment_id: id } });
    tellOutcome(`${name} is being deleted`);
    close();
  }
  return (
    <Dialog title={`Delete ${name}`} onClose={close}>
      <p>Its pods, its data and its secrets go with it. That can't be undone.</p>
      <Form submit={submit} label="Delete" isDangerous isIncomplete={typed !== name} onCancel={close}>
        {() => (
          <TextField
            label={`Type “${name}” to go on`}
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
      </Form>
    </Dialog>
  );
}
