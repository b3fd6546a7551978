import { appendFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Mail } from "./password-reset.ts";

/** A mailbox for mails that can't be sent: in memory and, one JSON object a line, in the file. */
export function mailbox(file?: string) {
  const mails: Mail[] = [];
  return {
    mails: mails as readonly Mail[],
    async deliver(mail: Mail): Promise<void> {
      mails.push(mail);
      if (file === undefined) return;
      await mkdir(dirname(file), { recursive: true });
      await appendFile(file, `${JSON.stringify(mail)}\n`, { mode: 0o600 });
    },
  };
}
