import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { create, Environments, untilReady } from "./support/environments.ts";
import { type Listener, listeners } from "./support/listeners.ts";
import { clusterPrograms } from "./support/programs.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";
import { type Knock, knockAsNobody } from "./support/stranger.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

/** A listener of the local cluster, and another local user's result there. */
interface Listening {
  /** `*` stands for a changing part. */
  readonly at: string;
  readonly knock?: Omit<Knock, "at">;
  /** The expected answer. Absent: the listener's content is public. */
  readonly answer?: RegExp;
}

const get = (path: string) => ({ say: `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n` });
const securely = (path: string) => ({ ...get(path), tls: true });
/** A request of tokens for a correct password alone. */
const form = "grant_type=password&client_id=ephemeral&username=admin%40example.test&password=admin-local";
const logIn = {
  say: [
    "POST /token HTTP/1.1",
    "Host: localhost",
    "Connection: close",
    `Content-Length: ${form.length}`,
    "Content-Type: application/x-www-form-urlencoded",
    "",
    form,
  ].join("\r\n"),
};
const unauthorized = /^HTTP\/1\.1 401 /;
const forbidden = /^HTTP\/1\.1 403 /;
const notFound = /^HTTP\/1\.[01] 404 /;
/** A port for root alone: connections of other users are refused. */
const rootsPort = { knock: {}, answer: /^ECONNREFUSED$/ };
/** A socket whose folder or mode keeps other users out. */
const rootsSocket = { knock: {}, answer: /^EACCES$/ };

const allowed: readonly Listening[] = [
  { at: "etcd unix /run/ephemeral-environments/etcd/client.sock", ...rootsSocket },
  { at: "etcd unix /run/ephemeral-environments/etcd/peer.sock", ...rootsSocket },
  { at: "kube-apiserver tcp 10.244.0.1:16443", knock: securely("/api/v1/secrets"), answer: forbidden },
  { at: "kube-scheduler tcp 127.0.0.1:20259", ...rootsPort },
  { at: "kube-proxy tcp 127.0.0.1:20249", ...rootsPort },
  { at: "kube-proxy tcp 127.0.0.1:20256", ...rootsPort },
  { at: "kubelet tcp 10.244.0.1:10250", knock: securely("/pods"), answer: unauthorized },
  { at: "kubelet unix */kubelet/*", ...rootsSocket },
  { at: "containerd unix /run/ephemeral-environments/*", ...rootsSocket },
  // Forwards the streams of `kubectl exec`, each under an unguessable name.
  { at: "containerd tcp 127.0.0.1:*", knock: get("/exec/guessed"), answer: notFound },
  { at: "containerd-shim unix /run/containerd/s/*", ...rootsSocket },
  // The names of Services.
  { at: "coredns tcp 10.244.0.1:53" },
  { at: "coredns udp 10.244.0.1:53" },
  { at: "redis tcp 127.0.0.1:16379", knock: { tls: true, say: "*1\r\n$4\r\nPING\r\n" }, answer: /^-NOAUTH / },
  { at: "argocd-repo-server tcp 127.0.0.1:18081", knock: securely("/"), answer: /CERTIFICATE_REQUIRED$/ },
  { at: "argocd-repo-server tcp 127.0.0.1:18084", ...rootsPort },
  { at: "argocd-repo-server unix /run/ephemeral-environments/repo-server/data/ask-pass.sock", ...rootsSocket },
  { at: "argocd-application-controller tcp *:18082", ...rootsPort },
  { at: "traefik tcp 127.0.0.1:18443", knock: securely("/api/rawdata"), answer: notFound },
  { at: "traefik tcp 127.0.0.1:18444", ...rootsPort },
  // Reading is public, pushing is impossible.
  {
    at: "git-server tcp 127.0.0.1:9300",
    knock: get("/platform/sample-backend.git/info/refs?service=git-receive-pack"),
    answer: forbidden,
  },
  { at: "gitea tcp 127.0.0.1:9301", knock: get("/api/v1/admin/users"), answer: unauthorized },
  { at: "identity-provider tcp 127.0.0.1:9400", knock: logIn, answer: /^HTTP\/1\.1 400 / },
  { at: "operator tcp 127.0.0.1:8080", knock: get("/api/environments"), answer: unauthorized },
  { at: "operator tcp 127.0.0.1:9090", ...rootsPort },
  // As public as the ingress, behind which it is.
  { at: "gate tcp 10.244.0.1:8081" },
  { at: "gate tcp 127.0.0.1:9091", ...rootsPort },
];

const matches = (listening: Listening, name: string) => {
  const parts = listening.at.split("*").map((part) => part.replace(/[.\\+?^${}()|[\]]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
};

interface Found {
  readonly name: string;
  readonly listener: Listener;
  readonly listening: Listening | undefined;
}

async function found(): Promise<readonly Found[]> {
  const whose = await clusterPrograms();
  const all = await Promise.all(
    (await listeners()).map(async (listener) => ({ listener, program: await whose(listener.pid) })),
  );
  return all.flatMap(({ listener, program }) => {
    if (program === undefined) return [];
    const name = `${program} ${listener.kind} ${listener.at}`;
    return [{ name, listener, listening: allowed.find((listening) => matches(listening, name)) }];
  });
}

function placeOf({ kind, at }: Listener): Knock["at"] {
  if (kind === "unix") return { path: at };
  const colon = at.lastIndexOf(":");
  // A listener at every address includes loopback.
  return { host: at.slice(0, colon).replace("*", "127.0.0.1"), port: Number(at.slice(colon + 1)) };
}

describe("abuse case 92: another user of the machine", () => {
  let all: readonly Found[];
  beforeAll(async () => {
    // The sockets of containers are those of a running pod.
    const running = environments.name("listening");
    await create(running);
    await untilReady(running);
    all = await found();
  });

  test("finds the listeners of this list, and no others", () => {
    expect(all.filter(({ listening }) => listening === undefined).map(({ name }) => name)).toEqual([]);
    expect(allowed.filter((listening) => !all.some((one) => one.listening === listening)).map(({ at }) => at)).toEqual(
      [],
    );
  });

  test("gets nothing from them that is not public", async () => {
    const requested = all.flatMap(({ name, listener, listening }) =>
      listening?.knock && listening.answer
        ? [{ name, expected: listening.answer, knock: { ...listening.knock, at: placeOf(listener) } }]
        : [],
    );
    const answers = await knockAsNobody(requested.map(({ knock }) => knock));
    const given = requested.map(({ name, expected }, index) => ({ name, expected, answer: answers[index] ?? "" }));
    // The socket of a container that has ended is gone.
    const wrong = given.filter(({ expected, answer }) => answer !== "ENOENT" && !expected.test(answer));
    expect(wrong).toEqual([]);
  });
});
