/** A program that only reads: all environments of the local cluster, each second. */
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { answerParent } from "../answer-parent.ts";
import { openLocalCluster } from "../local-cluster.ts";

const { admin } = await openLocalCluster();
const read = () => admin.list(environmentType).catch(() => undefined);
setInterval(() => void read(), 1_000);
answerParent(async () => process.pid);
