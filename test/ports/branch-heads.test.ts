import { settingsFrom } from "../../config/settings.ts";
import { gitRepositoryHost } from "../../operator/adapters/git/repository-host.ts";
import { createBranchHeads } from "../../operator/repository-access/branch-heads.ts";
import { startGitServer } from "../support/doubles/git-server.ts";
import { memoryBranchHeads } from "../support/doubles/memory/branch-heads.ts";
import { aRepository } from "../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { testSettings } from "../support/fixtures/test-settings.ts";
import { branchHeadsSuite } from "./suites/branch-heads.suite.ts";

branchHeadsSuite("memory", async () => {
  const branchHeads = memoryBranchHeads();
  let pushed = 0;
  return {
    branchHeads,
    repository: aRepository("shop-api"),
    async push(branch) {
      pushed += 1;
      const commit = String(pushed).padStart(40, "0");
      branchHeads.push("shop-api", branch, commit);
      return commit;
    },
    disconnect: async () => branchHeads.setReachable(false),
    stop: async () => undefined,
  };
});

branchHeadsSuite("a private git host", async () => {
  const git = await startGitServer({ credentials: "reader:word" });
  await git.createRepository("shop", ["main", "feature/a+b"]);
  const credentialsRef = { name: "shop-git", key: "latest" };
  const repository = aRepository("shop-api", { cloneUrl: `http://${git.address}/shop.git`, credentialsRef });
  const secretManager = memorySecretManager();
  secretManager.share({ id: "shop-git", labels: {}, values: ["reader:word"] });
  const hostCredentials = [{ id: "shop-git", hosts: [git.address] }];
  const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
  const repositoryHost = gitRepositoryHost();
  const clock = new TestClock("2026-06-01T12:00:00Z");
  return {
    branchHeads: createBranchHeads({ settings, secretManager, repositoryHost, clock }),
    repository,
    push: (branch) => git.push("shop", branch),
    disconnect: () => git.stop(),
    stop: () => repositoryHost.close(),
  };
});
