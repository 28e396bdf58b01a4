package clusterlines

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/internal/ui/paint"
	"deployster/plan"
)

// Of returns what the clusters of a plan do not enforce of what machines do, and what Pods cost there.
// addrs are the resources that the plan shows.
func Of(p *plan.Plan, addrs []string) string {
	text := ""
	for _, line := range slices.Concat(weaker(p, addrs), podsEach(p)) {
		text += paint.Yellow(line) + "\n"
	}
	if text != "" {
		text += "\n"
	}
	return text
}

// OfStep returns what the cluster of one resource does not enforce; "" = nothing, or it is on a machine.
func OfStep(s *plan.Step) string {
	if len(s.Weaker) == 0 {
		return ""
	}
	return "on " + diag.Visible(s.Settings.Host.Name) + ": " + words.All(s.Weaker)
}

// weaker returns what clusters do not enforce, once for each host and type of some resources.
func weaker(p *plan.Plan, addrs []string) (lines []string) {
	for _, addr := range addrs {
		s := p.Resources[addr]
		if len(s.Weaker) == 0 {
			continue
		}
		h := s.Settings.Host
		line := diag.Visible(fmt.Sprintf("Not enforced on %s (%s) for %s: %s", h.Name, h, s.Type, strings.Join(s.Weaker, ", ")))
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// fewQueries is how many Pods for queries are worth no words.
const fewQueries = 4

// podsEach returns a line for each type that gets a Pod of its own for each query, since it has no worker
// and does not share containers.
func podsEach(p *plan.Plan) (lines []string) {
	type key struct{ host, image string }
	queries, most := map[key]int{}, map[string]int{}
	for _, s := range p.Resources {
		shares := (s.Init.Worker != nil || s.Init.Reuse) && s.Settings.Workers != runner.NoWorkers
		if h := s.Settings.Host; h.InCluster() && !shares && s.Change() != plan.Forget && s.Init.Digest != "" {
			queries[key{h.Name, s.Type}]++
			most[h.Name] = h.Kubernetes.Most()
		}
	}
	order := func(a, b key) int { return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.image, b.image)) }
	for _, k := range slices.SortedFunc(maps.Keys(queries), order) {
		if queries[k] > fewQueries {
			lines = append(lines, diag.Visible(fmt.Sprintf("On %s %s starts a Pod for each of its %s queries (about 3 s each, %d at a "+
				"time)", k.host, k.image, words.Thousands(queries[k]), most[k.host])))
		}
	}
	return lines
}
