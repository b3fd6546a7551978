/**
 * What a run without faults writes, and which ports it calls, by part of an environment's life. A write that is not
 * here fails the suite: whoever adds one adds it here, and with that has it meet every fault.
 */
export const RECORDED = {
  create: [
    "call deployer.confine",
    "call deployer.ensure",
    "call prober.probe",
    "call repositoryHost.head",
    "call secretManager.ensure",
    "create AppProject env-NAME",
    "create Application env-NAME",
    "create EphemeralEnvironment NAME",
    "create LimitRange environment",
    "create Namespace env-NAME",
    "create NetworkPolicy allowed-traffic",
    "create NetworkPolicy default-deny",
    "create ResourceQuota environment",
    "create RoleBinding ephemeral-environment",
    "create Secret environment-secrets-VERSION",
    "create Secret store NAME-UID",
    "patch EphemeralEnvironment NAME, hold",
    "patch EphemeralEnvironment/status NAME, creating",
    "patch EphemeralEnvironment/status NAME, ready",
  ],
  extend: [
    "call deployer.confine",
    "call deployer.ensure",
    "patch EphemeralEnvironment NAME, a change of the spec",
    "patch EphemeralEnvironment/status NAME, ready",
  ],
  "move to another commit": [
    "call deployer.confine",
    "call deployer.ensure",
    "call prober.probe",
    "patch Application env-NAME",
    "patch EphemeralEnvironment/status NAME, ready",
    "patch EphemeralEnvironment/status NAME, updating",
  ],
  delete: [
    "call deployer.remove",
    "call secretManager.holdsAny",
    "call secretManager.remove",
    "create EnvironmentRecord UID",
    "delete AppProject env-NAME",
    "delete Application env-NAME",
    "delete EphemeralEnvironment NAME",
    "delete Namespace env-NAME",
    "delete Secret store NAME-UID",
    "patch EphemeralEnvironment NAME, release",
    "patch EphemeralEnvironment/status NAME, terminating",
  ],
};
