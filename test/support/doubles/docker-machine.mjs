/**
 * Stands in for kind, docker, kubectl and helm on a machine with Docker, by the name in its first argument. Appends each
 * call with its input to $RECORD as a line of JSON, keeps kind's clusters in $RECORD.clusters, and answers as far as the
 * callers read the answers.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";

const [program, ...args] = process.argv.slice(2);
const { RECORD = "" } = process.env;
const reads = args.some((arg) => arg === "-" || arg.endsWith("=-"));
const input = reads ? readFileSync(0, "utf8") : undefined;
appendFileSync(RECORD, `${JSON.stringify({ program, args, input })}\n`);

const file = `${RECORD}.clusters`;
const clusters = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []);
const nameIn = () => args[args.indexOf("--name") + 1];
const fail = (message) => {
  console.error(message);
  process.exit(1);
};

const answers = {
  kind: {
    "get clusters": () => clusters().join("\n"),
    "create cluster": () => {
      if (clusters().includes(nameIn())) fail(`ERROR: node(s) already exist for a cluster with the name "${nameIn()}"`);
      appendFileSync(file, `${nameIn()}\n`);
    },
    "delete cluster": () =>
      writeFileSync(
        file,
        clusters()
          .filter((name) => name !== nameIn())
          .join("\n"),
      ),
    "load image-archive": () => existsSync(args[2]) || fail(`ERROR: ${args[2]}: no such file or directory`),
    "get kubeconfig": () =>
      clusters().includes(nameIn()) ? "kind: Config" : fail(`ERROR: no nodes found for cluster "${nameIn()}"`),
  },
  docker: {
    "version --format": () => "29.0.0",
    "network inspect": () =>
      JSON.stringify([{ Subnet: "fc00:f853:ccd:e793::/64" }, { Subnet: "172.18.0.0/16", Gateway: "172.18.0.1" }]),
  },
  kubectl: {
    "apply --server-side": () => "",
    "rollout status": () => "",
    "get service": () => "10.96.12.34",
  },
  helm: { "upgrade --install": () => "" },
};
const answer = answers[program]?.[args.slice(0, 2).join(" ")];
if (!answer) fail(`the stand-in has no answer to: ${program} ${args.join(" ")}`);
const said = answer();
if (typeof said === "string" && said !== "") console.log(said);
