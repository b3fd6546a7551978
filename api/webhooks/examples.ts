const COMMIT = "6dcb09b5b57875f334f61aebed695e2e4193db5e";

export const WEBHOOK_EXAMPLES = {
  pullRequest: {
    action: "opened",
    number: 42,
    pull_request: {
      id: 1001,
      number: 42,
      title: "Faster checkout",
      body: "",
      state: "open",
      head: { ref: "feature/checkout", sha: COMMIT },
      base: { ref: "main", sha: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e" },
      user: { login: "dev", email: "dev@example.com" },
    },
    repository: {
      name: "shop-api",
      full_name: "shop/shop-api",
      clone_url: "https://git.example.com/shop/shop-api.git",
    },
  },
  pipeline: {
    object_kind: "pipeline",
    object_attributes: {
      id: 31,
      status: "success",
      url: "https://ci.example.com/shop/shop-api/pipelines/31",
      created_at: "2026-06-01T11:50:00Z",
      finished_at: "2026-06-01T12:00:00Z",
    },
    project: {
      id: 4711,
      name: "shop-api",
      path_with_namespace: "shop/shop-api",
      web_url: "https://ci.example.com/shop/shop-api",
    },
    commit: { id: COMMIT, title: "Faster checkout", message: "Faster checkout\n" },
    builds: [{ id: 380, stage: "build", name: "image", status: "success" }],
  },
  generic: {
    event: "deployment.finished",
    message: "shop-api was deployed",
    source: "custom",
    data: { version: "1.4.0" },
    send_chat_notification: true,
    timestamp: "2026-06-01T12:00:00Z",
  },
  environment: {
    event_type: "ready",
    environment_id: "0f3c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10",
    environment_name: "shop-api-pr-42",
    status: "ready",
    user_email: "dev@example.com",
    repository: "shop-api",
    branch: "feature/checkout",
    commit_sha: COMMIT,
    urls: {
      backend: "https://shop-api-pr-42--api.env.example.com",
      frontend: "https://shop-api-pr-42.env.example.com",
    },
    metadata: { ttl_hours: 24, config_set: "default" },
  },
} as const;
