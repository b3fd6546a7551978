import type { EnvironmentReport } from "../../sdk/index.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { platform } from "../platform/client.ts";
import { tellOutcome } from "../platform/notices.ts";

interface ResetDialogProps {
  readonly environment: EnvironmentReport;
  readonly close: () => void;
}

/** Makes the database of an environment anew, after a question. */
export function ResetDialog({ environment, close }: ResetDialogProps) {
  const { id, name } = environment;
  async function submit() {
    const path = { environment_id: id };
    await platform.call("POST /api/v2/environments/{environment_id}/database/reset", { path });
    tellOutcome(`The database of ${name} is being made anew`);
    close();
  }
  return (
    <Dialog title={`Reset the database of ${name}`} onClose={close}>
      <p>It begins anew, empty or with its seed. The data of now is deleted. That can't be undone.</p>
      <Form submit={submit} label="Reset" isDangerous onCancel={close}>
        {() => null}
      </Form>
    </Dialog>
  );
}
