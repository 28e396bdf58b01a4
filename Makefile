# `make demo` shows the main job, `make test` proves it. Both install what is
# missing. LIGHT are the packages that start no containers. Those of them that start
# goroutines are tested with the race detector, which needs no second build of containerd.
# Of config that is one test: the others would take three times as long with the detector,
# and TestManifest_BoundsExpensiveFiles holds programs of its own to seconds.
LIGHT = ./apply/... ./config/... ./plan/... ./state/... ./protocol/... ./internal/base/... ./internal/runtime/runner/... ./internal/app/runs/... \
	./internal/ui/jsondiff/... ./internal/ui/render/... ./internal/ui/events/... ./internal/app/watch/... ./internal/runtime/remote/... ./internal/runtime/pod/... ./internal/base/sharedlog/... ./machine/...

# Everything is compiled in one way, so that it is compiled once: the race detector
# alone needs a second. Programs are linked without what only debuggers read (-w), which
# takes half as long.
export CGO_ENABLED = 0
export GOFLAGS := $(GOFLAGS) -trimpath -ldflags=-w
RACE = CGO_ENABLED=1 go test -race

RACED = $(shell go list -f '{{.ImportPath}} {{.Dir}}' $(LIGHT) | while read name dir; do \
	grep -qE '^\s*go |\.Go\b' $$dir/*.go && echo $$name; done | grep -vx deployster/config)

.PHONY: test-long test-kube kills-kube darwin release test-release house man docs-check subjects test-bare test-machines test-machines-kills test-machines-ansible bench-machines test-bridge kills-bridge build bundle demo demo-hosts demo-machines test check bench bench-engine race fuzz crash soak clean functions-table edits checks

# The linker writes its output page by page, and so the kernel caches it. A copy is
# cached in large pieces, as an installed program is, and starts 2 ms sooner.
build:
	go build -buildvcs=false -ldflags="-s -w" -o bin/deployster .
	go build -buildvcs=false -ldflags="-s -w" -o bin/deployster-shim ./containerd/shim/deployster-shim
	go build -buildvcs=false -ldflags="-s -w" -o bin/deployster-agent ./containerd/agent/deployster-agent
	go build -buildvcs=false -ldflags="-s -w" -o bin/deployster-host ./internal/onhost/deployster-host
	cd bridge && go build -buildvcs=false -ldflags="-s -w" -o ../bin/deployster-terraform .
	cd kube && go build -buildvcs=false -ldflags="-s -w" -o ../bin/deployster-kube .
	cd lsp && go build -buildvcs=false -ldflags="-s -w" -o ../bin/deployster-lsp .
	go build -buildvcs=false -ldflags="-s -w" -o bin/deployster-pod ./internal/runtime/pod/deployster-pod
	$(call image,machine,machine,amd64,-type)
	$(call image,notify,notify,amd64,-type)
	$(call image,pod,internal/runtime/pod/deployster-pod,amd64)
	@for f in deployster deployster-shim; do cp bin/$$f bin/.$$f && mv bin/.$$f bin/$$f; done
	go run ./internal/base/packed/deployster-pack $(wildcard bin/runc) bin/deployster-shim bin/deployster-host

# The images that come with deployster: bin/images/NAME, of the program in a directory.
image = $(if $(wildcard $(2)/main.go),$(foreach arch,$(3),GOARCH=$(arch) go build -buildvcs=false -ldflags="-s -w" -o bin/.$(1)-$(arch) ./$(2) &&) \
	go run ./containerd/bundled/deployster-layout $(4) bin/images/$(1) $(1) $(foreach arch,$(3),$(arch)=bin/.$(1)-$(arch)) && \
	rm -f $(foreach arch,$(3),bin/.$(1)-$(arch)))

# What hosts of another architecture are given: bin/deployster-linux-arm64.bundle. RUNC names
# a runc of that architecture; without it they must have one, since runc needs cgo.
ARCH ?= arm64
BUNDLE = bin/deployster-linux-$(ARCH).bundle
bundle:
	mkdir -p bin/$(ARCH)
	rm -f bin/$(ARCH)/deployster
	GOARCH=$(ARCH) go build -buildvcs=false -ldflags="-s -w" -o bin/$(ARCH)/deployster-host ./internal/onhost/deployster-host
	GOARCH=$(ARCH) go build -buildvcs=false -ldflags="-s -w" -o bin/$(ARCH)/deployster-agent ./containerd/agent/deployster-agent
	GOARCH=$(ARCH) go build -buildvcs=false -ldflags="-s -w" -o bin/$(ARCH)/deployster-shim ./containerd/shim/deployster-shim
	$(call image,machine,machine,amd64 $(ARCH),-type)
	$(call image,notify,notify,amd64 $(ARCH),-type)
	$(call image,pod,internal/runtime/pod/deployster-pod,amd64 $(ARCH))
	$(if $(RUNC),cp $(RUNC) bin/$(ARCH)/runc,rm -f bin/$(ARCH)/runc)
	tar -C bin/$(ARCH) --owner=0 --group=0 -cf - . | gzip -1n >$(BUNDLE)
	sha256sum $(BUNDLE) >$(BUNDLE).sha256

demo: build
	.ci/setup demo
	PATH="$$PWD/bin:$$PATH" docs/examples/demo/run.sh

# Two hosts and a shared state, on loopback.
demo-hosts: build
	.ci/setup demo-hosts
	PATH="$$PWD/bin:$$PATH" docs/examples/hosts/run.sh

# A web site on three Debian machines, which are booted for it: see test-machines.
demo-machines: build
	.ci/setup machines
	PATH="$$PWD/bin:$$PATH" go run ./internal/testkit/machines/booted 3 docs/examples/site/run.sh

# What takes longest begins first, so that the rest is done beside it: go test starts packages
# in the order of its arguments, each once. It prints in that order too: nothing of the third
# is seen until the scripts have ended.
LONGEST_RACED = deployster/state deployster/internal/runtime/conformance
LONGEST = ./internal/testkit/e2e

# Random histories and large messages take ten times as long with the race detector, which
# smaller tests of the same code show as much, and its stacks are larger. They run without it.
HEAVY = '^TestModel_RandomHistories$$|^TestClient_TakesTheLargestAnswer$$|^TestClient_ReportsWhatIsTooLarge$$|^TestCheckConfig_HasAnEnd$$|^TestLarge_IsReadBack$$|^TestWatch_WaitsWithASmallStack$$'
HEAVY_IN = ./internal/base/sharedlog ./internal/runtime/remote ./internal/runtime/runner/typeschema ./protocol ./state

# Each benchmark runs twice by `make test`, with small sizes (-short), so that none rots.
BENCHMARKED = $(shell grep -rlE '^func Benchmark' --include='*_test.go' . | grep -vE '^./(bridge|kube|lsp)/' | xargs -n 1 dirname | sort -u)

# `make check` vets everything once: go test would vet all that is imported a second and a
# third time, which took longer than compiling it. The race detector would have each process
# sleep for a second at its end, for what may still run: `make race` lets it. More packages
# than processors run at one time (-p), since some of them wait. Results of scripts are not
# cached (-count): for that, go would read every file again that they have read. The other
# modules are tested beside the scripts, since they mostly wait.
test: build
	.ci/setup test
	GORACE=atexit_sleep_ms=0 $(RACE) -p 3 -vet=off -skip $(HEAVY) $(LONGEST_RACED) $(RACED)
	go test -vet=off -run $(HEAVY) $(HEAVY_IN)
	$(RACE) -vet=off -run IsSafeForConcurrentUse ./config
	go test -vet=off ./config
	{ for m in bridge kube lsp release; do (cd $$m && go test -vet=off -parallel 4 ./...) || exit; done; } & others=$$!; \
	go test -vet=off -count=1 -timeout 75m -parallel 4 $(LONGEST) $$(go list ./... | grep -vxF "$$(printf '%s\n' deployster/config $(RACED))"); \
	main=$$?; wait $$others && exit $$main
	go test -vet=off -short -run '^$$' -bench . -benchtime 2x $(BENCHMARKED)
	cd lsp && go test -vet=off -short -run '^$$' -bench . -benchtime 2x ./internal/server
	cd bridge && go test -vet=off -short -run '^$$' -bench . -benchtime 2x .

# All scripts, also those that `make test` skips for their time: they vary what others test.
test-long: build
	.ci/setup test
	DEPLOYSTER_LONG=1 go test -vet=off -count=1 -timeout 75m -parallel 4 -run '^TestScripts_Pass$$' $(LONGEST)
	DEPLOYSTER_LONG=1 go test -vet=off -count=1 -run '^TestModel_OutputsFollowTheStateOnServers$$' ./state

# The README's two commands on a bare Debian 12, which shows what .ci/setup lacks. BARE is a
# directory that keeps the Debian for the next run. .ci/bare DIR COMMAND... runs other commands.
test-bare:
	.ci/bare $(BARE)

# The bridge, with more of what terraform asks a provider (PARTS, to 120) beside what the
# bridge asks it, and KILLS of deployster, the bridge and the provider in containers.
test-bridge: build
	.ci/setup test
	@command -v terraform >/dev/null || { echo 'terraform is not on the PATH: install it, then run make test-bridge again' ; exit 1 ; }
	cd bridge && go vet -tags providers ./... && DEPLOYSTER_BRIDGE_PARTS=$${PARTS:-8} go test -tags providers -count=1 -timeout 2h ./...
	DEPLOYSTER_TERRAFORM_KILLS=$${KILLS:-100} DEPLOYSTER_TERRAFORM_SEED=$${SEED:-1} go test -count=1 -timeout 12h -v -run '^TestTerraform_KilledAnywhere$$' ./internal/testkit/e2e

# The bridge, its provider or both are killed COUNT times while they make, change and remove
# things of a service that chooses ids at random; without containers, so that it is fast.
kills-bridge:
	DEPLOYSTER_BRIDGE_KILLS=$${COUNT:-10000} DEPLOYSTER_BRIDGE_SEED=$${SEED:-1} go test -count=1 -timeout 24h -v -run '^TestBridge_KilledAnywhere$$' ./internal/testkit/crash

# What needs whole machines: each is a Debian on this one, with systemd, apt and sshd, booted in a
# second. The first run makes the Debian that they share, in the cache directory of the user.
# EDITS is how many random edits by hand each kind gets, and LOCKED for how long somebody else has the locks of apt.
# TEST_MACHINE_SUITE=trixie boots Debian 13 in place of Debian 12.
test-machines: build
	.ci/setup test-machines
	go vet -tags machines ./internal/testkit/machines ./machine/...
	DEPLOYSTER_MACHINE_EDITS=$${EDITS:-10} DEPLOYSTER_MACHINE_LOCKED=$${LOCKED:-8s} go test -vet=off -tags machines -count=1 -timeout 3h ./internal/testkit/machines ./machine/...
	go test -vet=off -tags machines -count=1 -timeout 1h -run '^TestMutants_AreSeen$$' ./machine/internal/apt ./machine/internal/systemd ./machine/internal/accounts ./machine/internal/postgres ./machine/internal/git ./machine/internal/containers

# Pods on a real cluster: a Kubernetes of one node in namespaces of its own, with all that a node has, compiled
# from Go modules into bin/kube. The first time that takes about 20 minutes of processor time, and 4 GB of Go's cache.
# ONLY chooses tests; RESULTS is a directory for the figures.
KUBE = bin/kube/built-$(shell cat kube/onenode/go.sum kube/onenode/main.go kube/onenode/containerd/go.sum | sha256sum | cut -c 1-16)
NODE = $(addprefix github.com/containerd/containerd/v2/cmd/,containerd containerd-shim-runc-v2) \
	$(addprefix github.com/containernetworking/plugins/plugins/,main/bridge main/loopback ipam/host-local)
$(KUBE):
	rm -rf bin/kube && mkdir -p bin/kube
	cd kube/onenode && go build -buildvcs=false -ldflags="-w -X k8s.io/component-base/version.gitVersion=$$(go list -m -f '{{.Version}}' k8s.io/kubernetes)" -o ../../bin/kube/onenode .
	cd kube/onenode/containerd && go build -buildvcs=false -tags 'no_btrfs no_zfs' -o ../../../bin/kube/ $(NODE)
	touch $@

# With KUBECONFIG=FILE REGISTRY=HOST/PREFIX what does nothing to nodes runs on a cluster of yours, in namespaces of its own
# (deployster-test...), as its administrator. A variable of the environment does not count: only one of this command line.
ifeq ($(origin KUBECONFIG),command line)
USERS = KUBENODE_CONFIG=$(abspath $(KUBECONFIG)) KUBENODE_REGISTRY=$(REGISTRY)
endif
test-kube: build $(if $(USERS),,$(KUBE))
	.ci/setup $(if $(USERS),demo,kube)
	go vet -tags kube ./internal/testkit/kubenode
	$(USERS) $(if $(RESULTS),KUBENODE_RESULTS=$(abspath $(RESULTS))) go test -vet=off -tags kube -count=1 -timeout 90m -v $(if $(ONLY),-run '$(ONLY)') ./internal/testkit/kubenode

# Deployster, deployster-kube, the agent of a Pod or a connection between them is killed COUNT times at a random message or
# request of an action in a cluster in memory, and mostly the next command too. SEED chooses others.
kills-kube:
	cd kube && DEPLOYSTER_KUBE_KILLS=$${COUNT:-100} DEPLOYSTER_KUBE_SEED=$${SEED:-1} go test -vet=off -count=1 -timeout 24h -v -run '^TestKilled_Anywhere$$' ./internal/place

# The client, the type, or what runs it is killed COUNT times at a random moment of an apply to a
# machine. SEED chooses others.
test-machines-kills: build
	.ci/setup machines
	DEPLOYSTER_MACHINE_KILLS=$${COUNT:-500} DEPLOYSTER_MACHINE_SEED=$${SEED:-1} go test -vet=off -tags machines -count=1 -timeout 12h -v -run '^TestApply_KilledOnAMachine$$' ./machine

# What COUNT random configs of each of eight kinds make of a machine is compared with what Ansible makes of another. SEED chooses others.
test-machines-ansible: build
	.ci/setup test-machines
	DEPLOYSTER_MACHINE_JUDGED=$${COUNT:-100} DEPLOYSTER_MACHINE_SEED=$${SEED:-1} go test -vet=off -tags machines -count=1 -timeout 12h -v -run '^TestKinds_MakeWhatAnsibleMakes$$' ./machine

# The script tests and the containers too under the race detector: slow.
race: build
	.ci/setup test
	$(RACE) -skip '^TestWatch_WaitsWithASmallStack$$' ./...

# The largest types and packages; the same test is in `make test`.
house:
	go test -count=1 -v -run '^TestHouse_KeepsItsLimits$$' .

check:
	@test -z "$$(gofmt -l .)" || { gofmt -l . ; echo 'not formatted: run gofmt -w' ; exit 1 ; }
	go vet ./...
	cd bridge && go vet ./...
	cd kube && go vet ./...
	cd lsp && go vet ./...
	cd release && go vet ./...
	go tool staticcheck ./...
	$(MAKE) darwin
	$(MAKE) docs-check
	$(MAKE) subjects

# What stands in place of Linux has the types that the client for darwin needs, and so have its tests. It is not compiled,
# which takes two minutes: `make release` does that.
OTHER = $$(grep -rl --include='*_other.go' '^//go:build !linux' . | xargs -n 1 dirname | sort -u)
darwin:
	go run ./internal/testkit/typecheck darwin/arm64 . . $(OTHER)
	go run ./internal/testkit/typecheck darwin/arm64 lsp .

# The subjects of the last 50 commits, from the one on that brought the hook. Nothing is
# checked where the history is missing: no clone, or a shallow one.
subjects:
	@if [ "$$(git rev-parse --is-shallow-repository 2>/dev/null)" = false ]; then \
		first=$$(git log --diff-filter=A --format=%H -- .githooks/commit-msg | tail -n 1); \
		{ [ -z "$$first" ] || git log -n 50 --no-merges --format=%s "$$first^..HEAD"; } | .githooks/commit-msg - ; \
	fi

# The pages: links, commands, flags, variables, quoted messages, words. Examples are run by make test.
docs-check:
	go test -run '^TestDocs_(Commands|Environment|Refusals|Links|Manifests|Dependencies|NamesExist|RequirementsAreShown|InternalsAreShort)$$|^TestWords_' ./internal/testkit/e2e
	go test -run '^TestHelp_|^TestComplete_' ./internal/cli

# One table of ratios: about half an hour on 2 quiet cores. ROWS=1,5 chooses rows
# (bench/results/README.md numbers them), PAIRS says how often, SCALE=0.1 makes the
# manifests smaller, SVG=docs/bench.svg draws the chart. The newest run of each row of the whole
# size is kept in bench/results, or in RESULTS, and bench/results/README.md shows it.
bench: build
	.ci/setup bench
	@go run ./internal/testkit/bench -pairs $${PAIRS:-5} -scale $${SCALE:-1} -rows "$$ROWS" -svg "$$SVG" -results "$(if $(SCALE),$(RESULTS),$(or $(RESULTS),bench/results))"
	go test -count=1 -run '^TestPage_' ./internal/testkit/bench -update
	$(if $(ROWS),,$(MAKE) bench-machines)

# Deployster beside ansible: twenty-three things on each of three machines, made and found right. Machines of
# five kinds are booted (bench/machines/run.sh): MACHINES of each, with 0.35 GB of memory. RUNS is how often it is run without changes.
bench-machines: build
	.ci/setup bench
	@PATH="$$PWD/bin:$$PATH" go run ./internal/testkit/machines/booted $$((5 * $${MACHINES:-3})) bench/machines/run.sh

# The engine without containers, with its allocations, in the form that benchstat
# compares: COUNT=10 make bench-engine >old.txt. ONLY chooses, as Load/1000$$.
bench-engine: build
	@go test -run '^$$' -bench '$(or $(ONLY),.)' -benchtime $${BENCHTIME:-3x} -count $${COUNT:-1} -timeout 2h ./internal/testkit/scale

# What terraform console prints for config/testdata/functions/expressions.txt.
functions-table:
	go test -count=1 -timeout 1h -run '^TestFunctions_AgreeWithTerraform$$' ./config -terraform "$$(command -v terraform)"

# Takes out each check of apply (apply/testdata/mutants.txt), what keeps a put from being done
# twice, what hides secrets, each rule of batches, and what some standard types check, and wants its test to fail.
checks:
	go test -tags mutants -count=1 -timeout 2h -v -run '^TestMutants_AreSeen$$' ./apply ./plan ./internal/runtime/guard ./internal/runtime/remote/ssh ./internal/app/artifacts ./internal/app/redact ./apply/turns ./internal/runtime/runner/worker ./containerd ./containerd/agent ./containerd/ending ./containerd/lending ./containerd/sweep ./machine/internal/text ./machine/internal/etc ./machine/internal/settings ./machine/internal/content ./machine/internal/brought ./machine/internal/certificates ./internal/app/policy ./internal/app/vault ./internal/app/operating ./internal/app/rounds ./internal/app/savedplan ./internal/app/notifying ./internal/app/modules ./internal/migrate/original ./plan/artifacts ./state/exports ./state/transfer
	cd kube && go test -tags mutants -count=1 -timeout 2h -v -run '^TestMutants_AreSeen$$' ./internal/place
	cd lsp && go test -tags mutants -count=1 -timeout 2h -v -run '^TestMutants_AreSeen$$' ./internal/server

# What terraform makes of the edits in docs/refactoring.md, and the table there; and what
# it replaces because of replace_triggered_by.
edits:
	go test -count=1 -timeout 1h -v -run '^TestEdits_Terraform$$|^TestTriggers_LikeTerraform$$' ./internal/testkit/identity -terraform "$$(command -v terraform)"
	go test -count=1 -run '^TestEdits_Page$$' ./internal/testkit/identity -update

# Each fuzz target for half a minute.
fuzz:
	@set -e; for package in $$(go list ./... ); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "fuzzing $$target of $$package"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $${FUZZTIME:-30s} $$package; \
		done; \
	done

# Every crash, fault and power cut there is, many times: hours. The mutants show
# that the tests of crashes can fail.
crash:
	.ci/setup test
	go test -tags mutants -count=1 -v -run '^TestMutants_AreSeen$$' ./internal/testkit/crash
	DEPLOYSTER_CRASH=all go test -count=1 -timeout 12h -v ./internal/testkit/crash
	DEPLOYSTER_CRASH=all go test -count=1 -timeout 1h -v -run '^TestHostile_Artifacts$$' ./internal/testkit/artifacts
	DEPLOYSTER_CRASH=all go test -count=1 -timeout 1h -v -run '^(TestFullDisk_KeepsAcknowledgedFacts|TestRemote_(DiesAtEachCall|HandsOverInTime))$$' ./state
	DEPLOYSTER_CRASH=all go test -count=1 -timeout 4h -v -run '^TestApply_(KilledAtEachCall|CutFromItsHost)$$' ./internal/testkit/e2e
	DEPLOYSTER_CRASH=all go test -count=1 -timeout 4h -v -run '^TestServer_IsKilled$$' ./containerd

# Random scenarios against the model, on all processors, and the faults that
# they must see: about two hours. What fails is printed as a test. COUNT and SEED
# choose another range of seeds, to go on where an earlier run was ended.
soak:
	DEPLOYSTER_SCENARIOS=$${COUNT:-100000} DEPLOYSTER_SCENARIOS_SEED=$${SEED:-1} go test -count=1 -timeout 24h -v -run '^TestModel_Random(Scenarios|Watches)$$' ./internal/testkit/modeltest
	DEPLOYSTER_WATCH_DAYS=90 DEPLOYSTER_WATCH_RESOURCES=10000 go test -count=1 -timeout 2h -v -run '^TestRun_KeepsItsRules$$' ./internal/app/watch
	DEPLOYSTER_WATCH_SOAK=$${WATCH:-24h} go test -tags soak -count=1 -timeout 30h -v -run '^TestWatch_Soak$$' ./internal/testkit/e2e
	DEPLOYSTER_SCENARIOS_IN_CONTAINERS=100 go test -count=1 -timeout 1h -v -run '^TestModel_ScenariosInContainers$$' ./internal/testkit/modeltest
	DEPLOYSTER_HISTORIES=$${HISTORIES:-1000000} go test -count=1 -timeout 24h -v -run '^TestMatch_RandomHistories$$' ./plan/match
	DEPLOYSTER_LINES=$${LINES:-5000} go test -count=1 -timeout 24h -v -run '^TestHistories_KeepBothProtocols$$' ./internal/testkit/lines
	DEPLOYSTER_SETS=$${SETS:-5000} go test -count=1 -timeout 24h -v -run '^TestHistories_PurgeOnlyWhatNobodyDeclares$$' ./internal/testkit/sets
	DEPLOYSTER_ENGINE_HISTORIES=$${COUNT:-100000} DEPLOYSTER_ENGINE_HISTORIES_SEED=$${SEED:-0} go test -count=1 -timeout 24h -v -run '^TestEngine_RandomHistories$$' ./internal/testkit/identity
	DEPLOYSTER_PAIRS=1000 go test -count=1 -timeout 24h -v -run '^TestEngine_RandomPairs$$' ./internal/testkit/identity
	go test -tags mutants -count=1 -timeout 2h -v -run '^TestMutants_AreSeen$$' ./internal/testkit/modeltest ./internal/testkit/lines ./internal/testkit/identity ./plan/match ./internal/app/watch ./internal/base/sharedlog ./internal/runtime/pod
	DEPLOYSTER_PARTITIONS=$${PARTITIONS:-1h} go test -count=1 -timeout 24h -v -run '^TestPartitions_LoseNoAcknowledgedFact$$' ./internal/runtime/stores
	DEPLOYSTER_FENCES=1000 go test -count=1 -timeout 1h -v -run '^TestFence_SleepersStartNothing$$' ./internal/runtime/remote/agent
	DEPLOYSTER_STORE_RACES=1000 go test -count=1 -timeout 4h -run '^TestStores?_KeepTheContract$$|^TestStore_KeepsTheContract$$' ./internal/runtime/stores/...
	DEPLOYSTER_LOG_HISTORIES=$${HISTORIES:-1000000} go test -count=1 -timeout 24h -v -run '^TestModel_RandomHistories$$' ./internal/base/sharedlog

# The man pages, into man/: man -M man deployster.
man: build
	@mkdir -p man/man1
	bin/deployster man man/man1
	cd release && go run . -language ../man/man7

# What is published of a version, into dist/: make release VERSION=1.2.3 KEY=FILE. KEY is a
# private key of ed25519, without which SHA256SUMS is not signed. ARCH chooses one architecture.
release:
	.ci/setup release
	cd release && go run . -version "$(VERSION)" -out ../dist $(if $(KEY),-key "$(abspath $(KEY))") $(if $(filter command line,$(origin ARCH)),-arch $(ARCH))

# Builds a release of what is committed twice, in two clones, and compares the bytes; then installs each
# package by its own tool, and in Debians of its own with and without systemd: it is upgraded while
# an action and a watch run, removed and purged. RELEASE is a directory that keeps what was fetched.
test-release:
	.ci/setup release
	cd release && go test -count=1 ./...
	release/test.sh $(RELEASE)

clean:
	rm -rf bin man dist
