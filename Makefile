# Every command of the project. CI calls these and nothing else.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# As `npm run` does, which takes a third of a second more.
NODE := PATH="$(CURDIR)/node_modules/.bin:$$PATH" node

## The two that matter
up: node_modules ## Start a local cluster with the platform and a first environment, and say what to do next (CLUSTER=existing SETTINGS=… YES=1: that of your current context; CLUSTER=kind IMAGE=…: one in Docker)
	@$(NODE) deploy/local/main.ts up
test: node_modules ## Run everything: verify, audit, unit, contract, ports, control plane, faults (a sample), generators, schemathesis, e2e, e2e-console, e2e-install
	@$(NODE) test/run.ts

## The local cluster
down: node_modules ## Stop the local cluster and leave nothing behind (CLUSTER=existing: stop the operator, leave the cluster alone; CLUSTER=kind: delete it)
	@$(NODE) deploy/local/main.ts down
gitea: node_modules ## Start a git host beside the local cluster: repositories whose pull requests get environments, an image registry (built when it is first asked for)
	@$(NODE) deploy/local/main.ts gitea
pr: node_modules ## Open a pull request in the local git host, or take the open one, and follow it to the URL of its environment (make up first)
	@$(NODE) deploy/local/main.ts pr
status: node_modules ## Show which programs run
	@$(NODE) deploy/local/main.ts status
token: node_modules ## Print a fresh ID token (of EMAIL=dev@example.test)
	@$(NODE) deploy/local/token.ts $(EMAIL)

## The image
image: node_modules ## Build the container image without Docker: .local/image/image.tar (OCI), its bill of materials and .local/image/rootfs; prints digest, sizes and start time
	@$(NODE) deploy/image/main.ts
clients: node_modules ## Make what people use, where its sources have changed: the command line as one file (clients/cli/dist/eenv.mjs), the web console (clients/console/dist)
	@$(NODE) deploy/clients/main.ts
sdk: node_modules ## Compile the typed client and pack it for npm (.local/packages)
	@npx --no -- tsc -p clients/sdk
	@mkdir -p .local/packages
	@npm pack ./clients/sdk --pack-destination .local/packages --loglevel error
publish: node_modules ## Push the image and the charts to REGISTRY=host/prefix, signed by digest (KEY=cosign.key; without it, the identity that this machine can prove)
	@$(NODE) deploy/release/main.ts --registry "$(REGISTRY)" $(if $(TAG),--tag "$(TAG)") $(if $(KEY),--key "$(KEY)")
audit: node_modules ## Ask the npm registry for known vulnerabilities of what the lock files name
	@$(NODE) test/run.ts audit
image-pins: node_modules ## Pin the image's Node and Debian packages to what npm and Debian have now; look at the difference
	@$(NODE) deploy/image/pin.ts

## While working (FILE=part-of-a-path and NAME="part of a title" narrow every test target)
verify: node_modules ## Generated files, types, lint and format; fails on a difference
	@$(NODE) test/run.ts verify
generate: node_modules ## Write the generated files (CRDs, OpenAPI document, tables of metrics, rights and settings, dashboards, defaults of the chart, the typed client)
	@$(NODE) crds/generate.ts
	@$(NODE) api/generate.ts
	@$(NODE) operator/adapters/prometheus/generate.ts
	@$(NODE) operator/installation/generate.ts
	@$(NODE) config/generate.ts
	@$(NODE) deploy/dashboards/generate.ts
	@$(NODE) deploy/charts/generate.ts
	@$(NODE) clients/sdk/generate.ts
	@$(NODE) clients/cli/mcp/generate.ts
format: node_modules ## Format the sources
	@npx --no biome check --write .
test-unit: node_modules ## Pure code
	@$(NODE) test/run.ts unit
test-contract: node_modules ## The REST contract against the API
	@$(NODE) test/run.ts contract
test-ports: node_modules ## Every adapter and its double against one suite
	@$(NODE) test/run.ts ports
test-control-plane: node_modules ## The operator on a real API server, without nodes
	@$(NODE) test/run.ts control-plane
test-faults: node_modules ## Every fault at every write of an environment's life, and worse (PLAN="part of a plan's title" FAULT_SEED=…)
	@$(NODE) test/run.ts faults
test-generators: node_modules ## Clients of the OpenAPI document by the generators that people use, made and compiled
	@$(NODE) test/run.ts generators
test-schemathesis: node_modules ## Whatever the OpenAPI document says, drawn and tried on the served platform (another FUZZ_SEED draws something else)
	@$(NODE) test/run.ts schemathesis
e2e: node_modules ## User stories on the local cluster, with real Argo CD and real pods
	@$(NODE) test/run.ts e2e
e2e-console: node_modules ## The web console in a real browser, on the local cluster: stories, every screen in light, dark and 320 pixels, keyboard alone
	@$(NODE) test/run.ts e2e-console
screenshot: node_modules ## Make the README's picture of the web console anew (docs/console.png)
	@KEEP_PICTURE=1 NAME="picture of the README" $(NODE) test/run.ts e2e-console
e2e-install: node_modules ## The platform installed by helm: its image and its chart on a local cluster of their own, with two replicas as pods
	@$(NODE) test/run.ts e2e-install
test-steady: node_modules ## Run one test file again and again on a machine that is kept busy, and say how often each test failed (FILE=test/….test.ts TIMES=20)
	@$(NODE) test/steady.ts
bench: node_modules ## Measure the create path on the running local cluster (make up first; RUNS=10). Every benchmark fails when a bound is not held
	@$(NODE) test/bench/create.ts
bench-operator: node_modules ## Measure the operator beside plain clients on a control plane of its own (ENVIRONMENTS=10000 DUE=500 ROUNDS=2 PART=creations,bystanders,restart,scrapes,replicas,priority,expiry)
	@$(NODE) test/bench/operator/main.ts
bench-api: node_modules ## Measure the REST interface beside ten thousand environments and a server that does nothing (ENVIRONMENTS=10000 SECONDS=30)
	@$(NODE) test/bench/api/main.ts
bench-webhooks: node_modules ## Measure webhooks beside a plain client's writes: 50 a second, a burst, a process that is killed (SECONDS=300 BURST=1000)
	@$(NODE) test/bench/webhooks/main.ts
bench-cli: node_modules ## Measure the start of the command line beside node -e 0 (ROUNDS=30)
	@$(NODE) test/bench/cli.ts
bench-console: node_modules ## Measure the web console in a browser beside ten thousand environments (ENVIRONMENTS=10000 ROUNDS=20)
	@$(NODE) test/bench/console/main.ts
bench-masking: node_modules ## Measure how secrets are masked in logs, with the worst values that the limits allow
	@$(NODE) test/bench/masking.ts
bench-wake: node_modules ## Measure how a request wakes an environment of the running local cluster, beside kubectl scale (make up first; ROUNDS=5 REQUESTS=200)
	@$(NODE) test/bench/wake.ts
soak: node_modules ## Use the running local cluster as people do while its programs are killed and frozen, and judge what is left (make up first; MINUTES=5 PEOPLE=6 SEED=…)
	@$(NODE) test/bench/soak/main.ts
bench-seed: node_modules ## Measure seeds and copies of databases beside psql, pg_restore and pg_dump by hand (ROWS=200000 ROUNDS=5; root on Linux)
	@$(NODE) test/bench/seed.ts

# Not every npm knows allowScripts; others run the install scripts of all packages. So none is run, and then those it names.
ALLOWED_SCRIPTS = node -p 'Object.entries(require("./package.json").allowScripts ?? {}).filter(([, yes]) => yes === true).map(([name]) => name).join(" ")'
# A stamp that is written last: "npm ci" removes it with everything else, so that what was killed on its way is made again.
node_modules: node_modules/.complete ;
node_modules/.complete: package.json package-lock.json
	@echo "npm ci" && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@names="$$($(ALLOWED_SCRIPTS))" && if [[ -n "$$names" ]]; then npm rebuild --loglevel error $$names; fi
	@touch $@

help: ## This list
	@awk -F ':.*## ' '/^## /{print "\n" substr($$0, 4)} /^[a-z0-9-]+:.*## /{printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: up test test-steady image image-pins publish audit clients sdk down gitea pr status token verify generate format test-unit test-contract test-ports test-control-plane test-faults test-generators test-schemathesis e2e e2e-console screenshot e2e-install bench bench-operator bench-api bench-webhooks bench-cli bench-console bench-masking bench-seed bench-wake soak help
