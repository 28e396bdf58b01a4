package plan

import (
	"encoding/json"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
)

// errors says how many errors there are so far.
func (b *builder) errors() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, d := range b.diags {
		if d.Severity == diag.Error {
			n++
		}
	}
	return n
}

// incomplete is the plan of what could be decided, when something could not: for
// looking at what else there is to do, and what else is wrong.
func (b *builder) incomplete() *Plan {
	for _, r := range b.manifest.Resources() {
		if b.steps[r.Address] == nil && b.wanted(r.Address) {
			b.steps[r.Address] = b.undecided(r)
		}
	}
	for _, addr := range b.removed() {
		if entry := b.prior.Resources[addr]; b.steps[addr] == nil && b.wanted(addr) {
			b.steps[addr] = &Step{Type: entry.Type, Change: ReadFailed, Config: json.RawMessage("{}"), Reason: b.firstError(addr)}
		}
	}
	p := b.frame()
	p.Errored, p.Outputs = true, map[string]Output{}
	p.Layers, _ = graph.Graph(p.Before()).Layers() // without an order it is still worth a look
	p.Summary = summarize(p.Resources)
	return p
}

// undecided is what can be said of a resource about which nothing was decided.
func (b *builder) undecided(r *config.Resource) *Step {
	step := &Step{Type: r.TypeRef, Config: json.RawMessage("{}"), Source: r.Range.String(), Init: b.typeOf(r.Address)}
	if b.failed[r.Address] {
		step.Change, step.Reason = ReadFailed, b.firstError(r.Address)
		return step
	}
	step.Change, step.Reason = Deferred, "something that it depends on could not be asked"
	for _, addr := range predecessors(r) {
		if b.failed[addr] {
			step.Reason = config.Reference(addr) + " could not be asked"
			break
		}
	}
	return step
}

// firstError is in a few words what went wrong with a resource.
func (b *builder) firstError(addr string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.diags {
		if d.Severity == diag.Error && d.Address == addr {
			return sentence(d.Summary)
		}
	}
	return ""
}

// sentence makes of a headline what may stand within a sentence.
func sentence(headline string) string {
	if len(headline) > 1 && headline[0] >= 'A' && headline[0] <= 'Z' && headline[1] >= 'a' && headline[1] <= 'z' {
		return strings.ToLower(headline[:1]) + headline[1:]
	}
	return headline
}
