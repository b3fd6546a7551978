import { type Static, Type } from "typebox";
import { closed, literals } from "../../crds/schema.ts";
import { Instant, orNull, titled } from "../schemas/fields.ts";

const LastDelivery = closed(
  {
    at: orNull(Instant, "null: the host does not report it."),
    answer: Type.String({ description: "The service's answer, as the host words it." }),
    accepted: Type.Boolean(),
  },
  { title: "LastHookDelivery" },
);

const Hook = closed(
  {
    id: Type.String({ description: "As the host numbers it." }),
    address: Type.String({ description: "Without a query and credentials." }),
    here: Type.Boolean({ description: "True for the right address." }),
    state: literals(["active", "inactive", "paused"], {
      description: "inactive: switched off by a person; paused: by the host, after failures.",
    }),
    events: Type.Array(Type.String(), { description: "Events that it sends, as the host names them." }),
    last_delivery: orNull(LastDelivery, "null: none lately, or the host does not report them."),
  },
  { title: "RepositoryHook", description: "A hook that delivers to the service, or did under another address." },
);

const Problem = closed(
  {
    reason: Type.String({ description: "A stable word." }),
    message: Type.String({ description: "The problem." }),
    next_step: Type.String({ description: "The remedy." }),
  },
  { title: "HookProblem" },
);

const Received = closed(
  { id: Type.String(), event_name: Type.String(), received_at: Instant },
  { title: "ReceivedDelivery" },
);

const ADDRESS = "https://environments.example.com/api/webhooks/repohost";

export const HookReport = closed(
  {
    repository: Type.String({ description: "The repository's id." }),
    host: orNull(
      closed({ id: Type.String(), kind: Type.String() }, { title: "RepositoryHost" }),
      "null: the repository names none, or the settings lack it or its token.",
    ),
    address: orNull(Type.String(), "Right address of its hook; null: the settings lack the service's address."),
    hooks: Type.Array(Hook),
    last_received: orNull(Received, "The newest stored delivery of the repository; null: none is stored."),
    problems: Type.Array(Problem, { description: "Problems; none: events arrive." }),
  },
  titled("RepositoryWebhook", {
    repository: "shop-api",
    host: { id: "github", kind: "github" },
    address: ADDRESS,
    hooks: [
      {
        id: "470123456",
        address: ADDRESS,
        here: true,
        state: "active",
        events: ["pull_request", "push", "workflow_run"],
        last_delivery: { at: "2026-06-01T12:00:00.000Z", answer: "200 OK", accepted: true },
      },
    ],
    last_received: {
      id: "3f0c2d4e8f5a4a399d0b6a1f6c1f7f103f0c2d4e",
      event_name: "pull_request",
      received_at: "2026-06-01T12:00:00.020Z",
    },
    problems: [
      {
        reason: "EventsMissing",
        message: "hook 470123456: it does not send merge_group",
        next_step: "POST /api/v2/repos/shop-api/webhook repairs it.",
      },
    ],
  }),
);
export type HookReport = Static<typeof HookReport>;
