/** An object as sentences name it: `Kind/name`, of a hook with the phase of the sync that it is of. */
export const titleOf = ({ kind, name, hook = "" }: { kind: string; name: string; hook?: string | undefined }) =>
  `${kind}/${name}${hook === "" ? "" : ` (hook ${hook})`}`;
