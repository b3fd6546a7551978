import type { EnvironmentReport, SleepRequest } from "../../sdk/index.ts";
import { Dialog } from "../parts/dialog.tsx";
import { TextArea, TextField } from "../parts/fields.tsx";
import { Form, textOf } from "../parts/form.tsx";
import { platform } from "../platform/client.ts";
import { tellOutcome } from "../platform/notices.ts";
import { violationAt } from "../platform/problems.ts";

interface SleepDialogProps {
  readonly environment: EnvironmentReport;
  readonly close: () => void;
}

/** Sets the hours in which an environment is awake, and the idle time after which it sleeps. */
export function SleepDialog({ environment: { id, name, sleep }, close }: SleepDialogProps) {
  const { schedule, after_idle_minutes: idle, minimum_requests: requests } = sleep ?? {};

  async function submit(values: FormData) {
    await platform.call("PATCH /api/v2/environments/{environment_id}", {
      path: { environment_id: id },
      body: { sleep: sleepOf(values) },
    });
    tellOutcome(`${name} sleeps as you said`);
    close();
  }
  return (
    <Dialog title={`When ${name} sleeps`} onClose={close}>
      <Form submit={submit} label="Save" onCancel={close}>
        {(violations) => (
          <>
            <TextArea
              label="Hours in which it is awake"
              name="awake"
              rows={3}
              defaultValue={schedule?.awake.join("\n") ?? ""}
              hint="One a line, such as Mon-Fri 08:00-19:00. Without any it sleeps at no hour."
              wrong={violationAt(violations, "sleep.schedule.awake")}
            />
            <TextField
              label="Time zone"
              name="zone"
              defaultValue={schedule?.time_zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone}
              wrong={violationAt(violations, "sleep.schedule.time_zone")}
            />
            <TextField
              label="Sleeps after idle minutes"
              name="idle"
              inputMode="numeric"
              defaultValue={idle?.toString() ?? ""}
              hint="Without requests, updates and readers of its logs. When left empty, it never counts as idle."
              wrong={violationAt(violations, "sleep.after_idle_minutes")}
            />
            <TextField
              label="Requests that count"
              name="requests"
              inputMode="numeric"
              defaultValue={requests?.toString() ?? ""}
              hint="In five minutes: more than a monitor sends."
              wrong={violationAt(violations, "sleep.minimum_requests")}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** A text that is no number is sent as it is: the platform says what is wrong with it. */
function sleepOf(values: FormData): SleepRequest {
  const awake = textOf(values, "awake")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const numberAt = (field: string) => {
    const text = textOf(values, field);
    return text === "" ? undefined : ((Number(text) || text) as number);
  };
  const [idle, requests] = [numberAt("idle"), numberAt("requests")];
  return {
    ...(awake.length > 0 && { schedule: { time_zone: textOf(values, "zone"), awake } }),
    ...(idle !== undefined && { after_idle_minutes: idle }),
    ...(requests !== undefined && { minimum_requests: requests }),
  };
}
