package podspec

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	psapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	kjson "sigs.k8s.io/json"

	"deployster/internal/runtime/runner"
)

var digest = "sha256:" + strings.Repeat("1", 64)

// order returns an order whose settings are the defaults.
func order() Order {
	return Order{Cluster: runner.Cluster{Namespace: "jobs", Agent: "registry.example/deployster-pod@sha256:" + strings.Repeat("a", 64)},
		Image: runner.Shipment{Name: "registry.example/acme/db:2", Digest: digest,
			Platforms: []string{"linux/amd64", "linux/arm64/v8"}},
		Name: "d-1", For: "main/create", Lineage: "abc", Run: "def", Epoch: 412, Acts: true}
}

// made returns the Pod of an order, after a strict decoder has read it.
func made(t *testing.T, o Order) *core.Pod {
	t.Helper()
	p, err := o.Pod("deployster.io/try")
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var read core.Pod
	if wrong, err := kjson.UnmarshalStrict(content, &read); err != nil || len(wrong) > 0 {
		t.Fatalf("the Pod is not strict: %v, %v", wrong, err)
	}
	return &read
}

// The levels of Pod Security that each kind of settings fits, by version.
func TestPod_FitsPodSecurity(t *testing.T) {
	judge, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	drop := runner.Capabilities{Drop: []string{"ALL"}}
	for name, c := range map[string]struct {
		s                         runner.Settings
		baseline, before, current bool // restricted by the policy of 1.34, and of 1.35 and later
	}{
		"defaults":              {runner.Settings{}, true, false, false},
		"no capability, a user": {runner.Settings{Capabilities: drop, User: "1000"}, true, true, true},
		"no capability":         {runner.Settings{Capabilities: drop}, true, false, false},
		"a user namespace":      {runner.Settings{Capabilities: drop, UserNS: runner.AutoUserNS}, true, false, true},
		"root by number":        {runner.Settings{Capabilities: drop, User: "0"}, true, false, false},
		"NET_ADMIN":             {runner.Settings{Capabilities: runner.Capabilities{Add: []string{"NET_ADMIN"}}}, false, false, false},
		"read-only":             {runner.Settings{Capabilities: drop, User: "1000:1000", ReadOnlyRootFS: true}, true, true, true},
		"limits":                {runner.Settings{Memory: 1 << 30, CPU: 1500, Disk: 1 << 31}, true, false, false},
	} {
		o := order()
		o.Settings = c.s
		o.Mounts = []runner.Mount{{Source: "/secret/sa/key.json", Target: "/key"}, {Source: "/configmap/c", Target: "/c"},
			{Source: "/pvc/data/sub/dir", Target: "/data", Writable: true}}
		p := made(t, o)
		for _, level := range []struct {
			level psapi.Level
			minor int
			want  bool
		}{{psapi.LevelBaseline, 34, c.baseline}, {psapi.LevelBaseline, 37, c.baseline}, {psapi.LevelRestricted, 34, c.before},
			{psapi.LevelRestricted, 35, c.current}, {psapi.LevelRestricted, 37, c.current}} {
			at := psapi.LevelVersion{Level: level.level, Version: psapi.MajorMinorVersion(1, level.minor)}
			result := policy.AggregateCheckResults(judge.EvaluatePod(at, &p.ObjectMeta, &p.Spec))
			if result.Allowed != level.want {
				t.Errorf("%s, %s of 1.%d: allowed %t: %s", name, level.level, level.minor, result.Allowed, result.ForbiddenDetail())
			}
		}
	}
}

// Each container has limits, which are its requests; only without a cpu of type or block its processor has more than it requests.
func TestPod_HasLimitsForEachContainer(t *testing.T) {
	p := made(t, order())
	ofBlock, ofType := order(), order()
	ofBlock.Cluster.CPU, ofType.Settings.CPU = 0.2, 300
	for want, p := range map[string]*core.Pod{"100m 1": p, "200m 200m": made(t, ofBlock), "300m 300m": made(t, ofType)} {
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			for _, name := range []core.ResourceName{core.ResourceMemory, core.ResourceEphemeralStorage} {
				limit, request := c.Resources.Limits[name], c.Resources.Requests[name]
				if limit.IsZero() || limit.Cmp(request) != 0 {
					t.Errorf("%s has the limit %s and the request %s of %s", c.Name, limit.String(), request.String(), name)
				}
			}
			if got := c.Resources.Requests.Cpu().String() + " " + c.Resources.Limits.Cpu().String(); got != want {
				t.Errorf("%s has %s of a processor, and not %s", c.Name, got, want)
			}
		}
	}
	if p.Spec.AutomountServiceAccountToken == nil || *p.Spec.AutomountServiceAccountToken || *p.Spec.TerminationGracePeriodSeconds != 600 {
		t.Errorf("%+v", p.Spec)
	}
}

func TestPod_RunsWhereTheImageDoes(t *testing.T) {
	for platforms, want := range map[string]string{
		"linux/amd64": "amd64", "linux/arm64/v8,linux/amd64,windows/amd64": "amd64 arm64", "": "amd64 arm64",
	} {
		o := order()
		o.Image.Platforms = strings.FieldsFunc(platforms, func(r rune) bool { return r == ',' })
		terms := made(t, o).Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		if got := strings.Join(terms[0].MatchExpressions[0].Values, " "); got != want {
			t.Errorf("%q: %q", platforms, got)
		}
	}
	o := order()
	o.Image.Platforms = []string{"linux/s390x", "windows/amd64"}
	if _, err := o.Pod("try"); err == nil || !strings.Contains(err.Error(), "is for linux/s390x, windows/amd64") {
		t.Errorf("got %v", err)
	}
}

func TestImage_IsRewritten(t *testing.T) {
	registries := map[string]string{"docker.io": "mirror.example/hub", "docker.io/acme": "other.example/a", "registry.example": "x.example"}
	for name, want := range map[string]string{
		"docker.io/library/db:2": "mirror.example/hub/library/db@" + digest, "docker.io/acme/db:2": "other.example/a/db@" + digest,
		"docker.io.example/db:2": "docker.io.example/db@" + digest, "registry.example/acme/db": "x.example/acme/db@" + digest,
	} {
		got, err := Image(runner.Cluster{Registries: registries}, runner.Shipment{Name: name, Digest: digest})
		if got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	_, err := Image(runner.Cluster{}, runner.Shipment{Name: digest, Digest: digest})
	if err == nil || !strings.Contains(err.Error(), "only on this machine") {
		t.Errorf("got %v", err)
	}
}

func TestPod_RefusesWhatAPodCannotHave(t *testing.T) {
	for want, change := range map[string]func(*Order){
		"pids cannot be limited":   func(o *Order) { o.Settings.PIDs = 5 },
		"never has the whole":      func(o *Order) { o.Settings.WholeMachine = true },
		"working directory cannot": func(o *Order) { o.Settings.Workdir = "/w" },
		"network_policy = true":    func(o *Order) { o.Settings.Network = runner.NoNetwork },
		`the user "www" has a`:     func(o *Order) { o.Settings.User = "www" },
		`the user "5:www" has a`:   func(o *Order) { o.Settings.User = "5:www" },
		"/etc is a path of a":      func(o *Order) { o.Mounts = []runner.Mount{{Source: "/etc", Target: "/e"}} },
		"a secret is read-only":    func(o *Order) { o.Mounts = []runner.Mount{{Source: "/secret/x", Target: "/e", Writable: true}} },
		"has no name of a secret":  func(o *Order) { o.Mounts = []runner.Mount{{Source: "/secret/A", Target: "/e"}} },
		"is not a part of pvc a":   func(o *Order) { o.Mounts = []runner.Mount{{Source: "/pvc/a/../b", Target: "/e"}} },
		"is not a key":             func(o *Order) { o.Mounts = []runner.Mount{{Source: "/configmap/a/b/c", Target: "/e"}} },
	} {
		o := order()
		change(&o)
		if _, err := o.Pod("try"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// What a cluster may add is noted, and what weakens a Pod is refused.
func TestCompare_RefusesWeakerPods(t *testing.T) {
	yes := true
	for want, change := range map[string]func(*core.Pod){
		"has the network of the node":      func(p *core.Pod) { p.Spec.HostNetwork = true },
		"sees the processes of the node":   func(p *core.Pod) { p.Spec.HostPID = true },
		"see the processes of each other":  func(p *core.Pod) { p.Spec.ShareProcessNamespace = &yes },
		"the token of a service account":   func(p *core.Pod) { p.Spec.AutomountServiceAccountToken = &yes },
		"shares memory with processes":     func(p *core.Pod) { p.Spec.HostIPC = true },
		"the container type is privileged": func(p *core.Pod) { p.Spec.Containers[0].SecurityContext.Privileged = &yes },
		"may get new privileges":           func(p *core.Pod) { p.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = &yes },
		"keeps capabilities":               func(p *core.Pod) { p.Spec.Containers[0].SecurityContext.Capabilities.Drop = nil },
		"has the capability SYS_ADMIN": func(p *core.Pod) {
			c := p.Spec.Containers[0].SecurityContext.Capabilities
			c.Add = append(c.Add, "SYS_ADMIN")
		},
		"has the image evil":                     func(p *core.Pod) { p.Spec.Containers[0].Image = "evil" },
		"the container agent has the image evil": func(p *core.Pod) { p.Spec.InitContainers[0].Image = "evil" },
		"runs another command":                   func(p *core.Pod) { p.Spec.Containers[0].Command = []string{"sh"} },
		"is the path /etc of the node": func(p *core.Pod) {
			path := core.VolumeSource{HostPath: &core.HostPathVolumeSource{Path: "/etc"}}
			p.Spec.Volumes = append(p.Spec.Volumes, core.Volume{Name: "v", VolumeSource: path})
		},
		"the container mesh is privileged": func(p *core.Pod) {
			mesh := core.Container{Name: "mesh", SecurityContext: &core.SecurityContext{Privileged: &yes}}
			p.Spec.Containers = append(p.Spec.Containers, mesh)
		},
		"its restartPolicy is Always": func(p *core.Pod) { p.Spec.RestartPolicy = core.RestartPolicyAlways },
		"has another user":            func(p *core.Pod) { p.Spec.Containers[0].SecurityContext.RunAsUser = nil },
		"no user namespace":           func(p *core.Pod) { p.Spec.HostUsers = nil },
		"was removed":                 func(p *core.Pod) { p.Spec.InitContainers = nil },
	} {
		o := order()
		o.Settings = runner.Settings{User: "1000", UserNS: runner.AutoUserNS}
		sent := made(t, o)
		got := sent.DeepCopy()
		change(got)
		var changed *runner.StartError
		if _, err := Compare(sent, got); !errors.As(err, &changed) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	sent := made(t, order())
	got := sent.DeepCopy()
	got.Spec.Containers = append(got.Spec.Containers, core.Container{Name: "mesh"})
	got.Spec.Volumes = append(got.Spec.Volumes, core.Volume{Name: "vault"})
	if injected, err := Compare(sent, got); err != nil || strings.Join(injected, ",") != "volume vault,container mesh" {
		t.Errorf("%q, %v", injected, err)
	}
}
