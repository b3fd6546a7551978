/**
 * True when a resource version is newer than another of the same kind.
 *
 * Resource versions are integers of any length without leading zeros: the longer one is newer, and of two equally long
 * ones the one that sorts later (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions,
 * KEP-5504). They grow with every write of a kind, until a restore of etcd sets them back.
 */
export function isNewer(version: string, other: string): boolean {
  if (version.length !== other.length) return version.length > other.length;
  return version > other;
}
