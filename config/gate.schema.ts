import { RE2JS } from "re2js";
import { type Static, Type } from "typebox";
import { closed } from "../crds/schema.ts";
import { Host, Port } from "./api-settings.schema.ts";

/** Agents that ask without a person who waits for the answer: monitors, crawlers, previews of links. */
const IGNORED_AGENTS = [
  "bot\\b|crawl|spider|slurp|archiver",
  "facebookexternalhit|WhatsApp|SkypeUriPreview|Embedly|Iframely|Mattermost-Bot|Slack-ImgProxy|Google-PageRenderer",
  "UptimeRobot|Uptime-Kuma|Pingdom|StatusCake|Site24x7|Better ?(Stack|Uptime)|Checkly|Freshping|Datadog|New ?Relic",
  "kube-probe|GoogleHC|ELB-HealthChecker|Prometheus|Blackbox|Zabbix|Nagios|check_http|Icinga|monitoring",
];

/** The gate, a process of its own: it answers for hosts of environments that sleep. */
export const Gate = closed(
  {
    host: Type.Unsafe<string>({ ...Host, default: "127.0.0.1", description: "The address that is listened at." }),
    port: Type.Unsafe<number>({ ...Port, default: 8081, description: "The port that is listened at." }),
    probes: closed(
      {
        host: Type.Unsafe<string>({ ...Host, default: "127.0.0.1", description: "The address that is listened at." }),
        port: Type.Unsafe<number>({
          ...Port,
          default: 9091,
          description:
            "The port, another than the operator's, which may run on the same machine; `/metrics` answers there, too.",
        }),
      },
      { default: {}, description: "Address and port of the gate's own /livez and /readyz." },
    ),
    trustedProxyHops: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: 1,
      description: "Number of proxies in front that are trusted in X-Forwarded-For: the ingress is one.",
    }),
    ignoredAgents: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
      maxItems: 50,
      default: IGNORED_AGENTS,
      description:
        "Patterns (RE2, in any case) of the `User-Agent` of requests that wake nothing: monitors, crawlers, previews of links. A list replaces the default one.",
    }),
  },
  {
    default: {},
    description: "The gate: the first request to a sleeping environment wakes it, and waits for it.",
  },
);
type Gate = Static<typeof Gate>;

/** Problems of well-formed settings of the gate, each with its path. */
export function gateProblems({ ignoredAgents }: Gate): string[] {
  return ignoredAgents.flatMap((pattern, at) =>
    isPattern(pattern) ? [] : [`/gate/ignoredAgents/${at}: '${pattern}' is not an RE2 expression`],
  );
}

function isPattern(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}
