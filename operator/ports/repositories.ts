import type { Repository } from "../../crds/repository/repository.ts";

/** Registered Repositories, from this process's cache; ClusterUnavailable before its first complete list. */
export interface Repositories {
  find(name: string): Repository | undefined;
  list(): Repository[];
}
