import { useState } from "preact/hooks";
import type { EnvironmentReport } from "../../sdk/index.ts";
import { Dialog } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/fields.tsx";
import { Form, textOf } from "../parts/form.tsx";
import { instantText, untilText } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { tellOutcome } from "../platform/notices.ts";
import { now } from "../platform/now.ts";
import { violationAt } from "../platform/problems.ts";

/** Hours to add; the platform has a maximum. */
const CHOICES = [2, 4, 8, 24, 48, 72];
const HOUR_MS = 3_600_000;

interface ExtendDialogProps {
  readonly environment: EnvironmentReport;
  readonly close: () => void;
}

/** Moves the expiry of an environment. */
export function ExtendDialog({ environment, close }: ExtendDialogProps) {
  const { id, name, ttl_hours: ttl, expires_at: expires } = environment;
  const [hours, setHours] = useState(8);
  const until = new Date(Date.parse(expires) + hours * HOUR_MS).toISOString();

  async function submit(values: FormData) {
    const description = textOf(values, "description");
    await platform.call("PUT /api/v2/environments/{environment_id}", {
      path: { environment_id: id },
      body: { ttl_hours: ttl + hours, ...(description && { description }) },
    });
    tellOutcome(`${name} is extended by ${hours} h`);
    close();
  }
  return (
    <Dialog title={`Extend ${name}`} onClose={close}>
      <Form submit={submit} label="Extend" onCancel={close}>
        {(violations) => (
          <>
            <SelectField
              label="By"
              value={hours}
              onChange={({ currentTarget }) => setHours(Number(currentTarget.value))}
              hint={`It then expires ${untilText(until, now.value)}: ${instantText(until)}.`}
              wrong={violationAt(violations, "ttl_hours")}
            >
              {CHOICES.map((choice) => (
                <option key={choice} value={choice}>
                  {choice} hours
                </option>
              ))}
            </SelectField>
            <TextField
              label="Reason"
              name="description"
              maxLength={500}
              hint="For the audit log."
              wrong={violationAt(violations, "description")}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
