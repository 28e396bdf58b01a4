package render

import (
	"fmt"
	"strings"
	"testing"

	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/protocol"
)

// Equal changes on many hosts are one, which says where; others stay apart.
func TestPlan_FoldsHosts(t *testing.T) {
	t.Parallel()
	steps, names := map[string]*plan.Step{}, []string{}
	for i := range 12 {
		s := step(plan.Create, `{"text":"welcome"}`)
		if i == 11 {
			s = step(plan.Create, `{"text":"another"}`)
		}
		name := fmt.Sprintf("web[%d]", i)
		s.Settings.Host = &runner.Host{Name: name, Address: fmt.Sprintf("10.0.0.%d", i), User: "deploy"}
		addr := fmt.Sprintf("motd[%d]", i)
		steps[addr], names = s, append(names, addr)
	}
	here := step(plan.Create, `{"text":"welcome"}`)
	steps["motd"], names = here, append(names, "motd")
	for name, c := range map[string]struct {
		options    Options
		want, none []string
	}{
		"folded": {Options{}, []string{
			"+ motd[0], motd[1], motd[2], motd[3] and 7 more will be created  (File, demo/file:1, main.hcl:7)\n    on web[0], web[1], web[2], web[3] and 7 more\n",
			"+ motd[11] will be created  (File, demo/file:1, main.hcl:7)\n    on web[11] (deploy@10.0.0.11)\n",
			"+ motd will be created  (File, demo/file:1, main.hcl:7)\n      + text",
		}, []string{"web[10]"}},
		"whole":   {Options{Whole: true}, []string{"    on web[0], web[1], web[2], web[3], web[4], web[5], web[6], web[7], web[8], web[9], web[10]\n"}, nil},
		"verbose": {Options{Verbose: true}, []string{"    on web[3] (deploy@10.0.0.3)\n", "    on web[10] (deploy@10.0.0.10)\n"}, []string{"more"}},
	} {
		got := paint.Colors(Plan(planOf(names, steps), c.options), false)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		for _, none := range c.none {
			if strings.Contains(got, none) {
				t.Errorf("%s: %q in\n%s", name, none, got)
			}
		}
	}
	if got := paint.Colors(Step("motd[3]", steps["motd[3]"], Options{}), false); !strings.Contains(got, "    on web[3] (deploy@10.0.0.3)\n") {
		t.Errorf("one step: %s", got)
	}
}

// A plan is on the hosts of its resources. Others were reached only to know them.
func TestSummary_CountsTheHostsOfThePlan(t *testing.T) {
	t.Parallel()
	on := func(name string) *plan.Step {
		s := step(plan.Create, `{}`)
		s.Settings.Host = &runner.Host{Name: name}
		return s
	}
	hosts := map[string]router.Pin{"a": {Machine: "ma"}, "b": {Machine: "mb"}, "down": {Unreachable: "no route"}}
	for name, c := range map[string]struct {
		steps map[string]*plan.Step
		only  []string
		want  string
	}{
		"all":           {map[string]*plan.Step{"x": on("a"), "y": on("b")}, nil, "On 2 of 3 hosts."},
		"one is unused": {map[string]*plan.Step{"x": on("a"), "y": step(plan.Create, `{}`)}, nil, "On 1 of 2 hosts."},
		"with -target":  {map[string]*plan.Step{"x": on("a")}, []string{"x"}, "On 1 host."},
	} {
		p := &plan.Plan{Hosts: hosts, Resources: c.steps, Selection: plan.Selection{Targets: c.only}, Summary: plan.Summary{Create: len(c.steps)}}
		if got := paint.Colors(Summary(p), false); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What a cluster does not enforce is printed once for each host and type.
func TestPlan_NamesWhatClustersDoNotEnforce(t *testing.T) {
	t.Parallel()
	steps, names := map[string]*plan.Step{}, []string{}
	for i, weaker := range [][]string{{"limit of processes", `plug "sa" not checked`}, {"limit of processes", `plug "sa" not checked`}, {"limit of processes"}, nil} {
		s := step(plan.Create, `{"text":"welcome"}`)
		s.Settings.Host = &runner.Host{Name: "jobs", Address: "prod/deployster", Kubernetes: &runner.Cluster{Namespace: "deployster"}}
		s.Weaker = weaker
		addr := fmt.Sprintf("main[%d]", i)
		steps[addr], names = s, append(names, addr)
	}
	for _, o := range []Options{{}, {Compact: true}} {
		got := paint.Colors(Plan(planOf(names, steps), o), false)
		want := "\nNot enforced on jobs (prod/deployster) for demo/file:1: limit of processes, plug \"sa\" not checked\n" +
			"Not enforced on jobs (prod/deployster) for demo/file:1: limit of processes\n\nPlan: "
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := paint.Colors(Step("main[2]", steps["main[2]"], Options{}), false); !strings.Contains(got, "    not enforced on jobs: limit of processes\n") {
		t.Errorf("one step: %s", got)
	}
}

// A type without a worker costs a Pod for each query.
func TestPlan_CountsPodsOfQueries(t *testing.T) {
	t.Parallel()
	steps, names := map[string]*plan.Step{}, []string{}
	for i := range 24 {
		s := step(plan.Valid, `{"text":"welcome"}`)
		s.Init.Digest, s.Type = "sha256:1", "acme/old:1"
		s.Settings.Host = &runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{Namespace: "deployster"}}
		switch {
		case i < 6:
			s.Type, s.Init.Worker = "acme/new:1", &protocol.Command{}
		case i < 12:
			s.Type, s.Init.Worker, s.Settings.Workers = "acme/none:1", &protocol.Command{}, runner.NoWorkers
			s.Settings.Host = &runner.Host{Name: "few", Kubernetes: &runner.Cluster{MaxPods: 3}}
		case i < 16:
			s.Type = "acme/seldom:1"
		}
		addr := fmt.Sprintf("main[%d]", i)
		steps[addr], names = s, append(names, addr)
	}
	got := paint.Colors(Plan(planOf(names, steps), Options{}), false)
	want := "On few acme/none:1 starts a Pod for each of its 6 queries (about 3 s each, 3 at a time)\n" +
		"On jobs acme/old:1 starts a Pod for each of its 8 queries (about 3 s each, 20 at a time)\n\n"
	if !strings.Contains(got, want) || strings.Contains(got, "acme/new") || strings.Contains(got, "seldom") {
		t.Errorf("no %q in\n%s", want, got)
	}
}
