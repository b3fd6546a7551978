import type { Settings } from "../../config/settings.ts";
import { argocd } from "../adapters/argocd/argocd.ts";
import type { DeployerTechnology } from "../ports/deployer.ts";

/** Deployer of the settings. */
export function deployerOf({ deployer }: Settings): DeployerTechnology {
  switch (deployer.kind) {
    case "argocd":
      return argocd(deployer);
  }
}
