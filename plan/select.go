package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/internal/base/words"
	"deployster/state"
)

// Selection limits a plan, or what it asks and does. The zero value is the plan
// of everything, asked anew.
type Selection struct {
	// Targets are the addresses of resources, instances and modules that the
	// plan is about, with all that has to be done before them. None: everything.
	Targets []string `json:"target,omitempty"`
	// Excludes are left out, with all that would have to wait for them.
	Excludes []string `json:"exclude,omitempty"`
	// Replace are resources that are destroyed and made again.
	Replace []string `json:"replace,omitempty"`
	// NoRefresh uses what was last recorded as VALID, and asks only what the
	// manifest has changed since (-refresh=false).
	NoRefresh bool `json:"no_refresh,omitempty"`
	// RefreshOnly records what is real, and does nothing to it.
	RefreshOnly bool `json:"refresh_only,omitempty"`
}

// Names of the flags, for messages.
const (
	flagTarget  = "-target"
	flagExclude = "-exclude"
	flagReplace = "-replace"
)

// IsZero reports whether it selects everything and asks for nothing special.
func (s Selection) IsZero() bool {
	return len(s.Targets)+len(s.Excludes)+len(s.Replace) == 0 && !s.NoRefresh && !s.RefreshOnly
}

// Partial reports whether resources may be left out.
func (s Selection) Partial() bool { return len(s.Targets)+len(s.Excludes) > 0 }

// addresses counts those that it names.
func (s Selection) addresses() int { return len(s.Targets) + len(s.Excludes) + len(s.Replace) }

// normal gives the selection with its addresses as plans print them, sorted and
// each once. What contradicts itself, or is no address, is an error.
func (s Selection) normal(known []string) (Selection, diag.Diagnostics) {
	var diags diag.Diagnostics
	for flag, list := range map[string]*[]string{flagTarget: &s.Targets, flagExclude: &s.Excludes, flagReplace: &s.Replace} {
		var parsed []string
		for _, text := range *list {
			address, err := config.ParseAddress(text)
			if err != nil {
				d := diag.From("Not an address", err)[0]
				d.Summary = fmt.Sprintf("%s=%s is not an address", flag, diag.Visible(text))
				d.Detail += nearMiss(text, known)
				diags = append(diags, d)
				continue
			}
			parsed = append(parsed, address)
		}
		slices.Sort(parsed)
		*list = slices.Compact(parsed)
	}
	switch {
	case s.RefreshOnly && len(s.Replace) > 0:
		diags = append(diags, diag.Errorf("Wrong command line", "-refresh-only does nothing to any resource, and -replace asks to destroy one "+
			"and make it again. Choose one of them."))
	case s.RefreshOnly && s.NoRefresh:
		diags = append(diags, diag.Errorf("Wrong command line", "-refresh-only records what is real, and -refresh=false does not look at it. "+
			"Choose one of them."))
	}
	slices.SortFunc(diags, compareDiagnostics)
	return s, diags
}

// covered reports whether an address is one of a list, or lies below one.
func covered(list []string, addr string) bool {
	return slices.ContainsFunc(list, func(outer string) bool { return state.Covers(outer, addr) })
}

// narrow works out which resources the plan is about, with what is known of
// instances by now.
func (b *builder) narrow() {
	s := b.options.Selection
	if !s.Partial() {
		return
	}
	g := b.everyNode()
	b.chosen = map[string]bool{}
	for addr := range g.before {
		if len(s.Targets) == 0 || covered(s.Targets, addr) || g.pending[addr] && coversAny(addr, s.Targets) {
			g.collect(addr, g.before, b.chosen)
		}
	}
	out := map[string]bool{}
	for addr := range g.before {
		if covered(s.Excludes, addr) {
			g.collect(addr, g.after, out)
		}
	}
	maps.DeleteFunc(b.chosen, func(addr string, _ bool) bool { return out[addr] })
	b.excluded = out
}

// Chosen says which addresses a plan with a selection would be about, as far as
// that is known before any image is asked: of instances that are not known yet it
// says nothing.
func Chosen(m *config.Manifest, prior state.Snapshot, s Selection) (func(addr string) bool, diag.Diagnostics) {
	b := &builder{manifest: m, recorded: prior, prior: prior, options: Options{Selection: s}}
	if b.move(); !b.diags.HasErrors() {
		b.choose()
	}
	return b.wanted, b.sorted()
}

// coversAny reports whether an address lies above one of a list.
func coversAny(outer string, list []string) bool {
	return slices.ContainsFunc(list, func(addr string) bool { return state.Covers(outer, addr) })
}

// wanted reports whether the plan is about an address: a resource, or a block whose
// instances are not known yet.
func (b *builder) wanted(addr string) bool { return b.chosen == nil || b.chosen[addr] }

// checkSelection refuses addresses that name nothing, and a selection of which
// nothing is left.
func (b *builder) checkSelection() {
	s := b.options.Selection
	if s.addresses() == 0 {
		b.checkReplace()
		return
	}
	known := b.knownAddresses()
	for _, list := range []struct {
		flag      string
		addresses []string
	}{{flagTarget, s.Targets}, {flagExclude, s.Excludes}, {flagReplace, s.Replace}} {
		for _, addr := range list.addresses {
			if !coversAny(addr, known) && b.pendingAbove(addr) == "" {
				b.report(nil, "", diag.Diagnostics{diag.Errorf(fmt.Sprintf("%s=%s names nothing", list.flag, addr),
					"There is no resource and no module with that address, neither in the manifest nor in the state file.%s", nearMiss(addr, known))})
			}
		}
	}
	if b.diags.HasErrors() {
		return
	}
	b.checkReplace()
	for _, target := range s.Targets {
		if slices.ContainsFunc(known, func(addr string) bool { return state.Covers(target, addr) && b.wanted(addr) }) {
			continue
		}
		b.report(nil, "", diag.Diagnostics{diag.Errorf(fmt.Sprintf("Nothing is left of -target=%s", target),
			"All of it is left out by -exclude, because it is excluded itself or waits for something that is. Take one of the two flags away.")})
	}
}

// knownAddresses are all that a flag may mean, or lie above: the resources of
// the manifest and of the state file, and blocks whose instances are not known.
func (b *builder) knownAddresses() []string {
	set := map[string]bool{}
	for _, r := range b.manifest.Resources() {
		set[r.Address] = true
	}
	for addr := range b.prior.Resources {
		set[addr] = true
	}
	for _, p := range b.manifest.Pending() {
		set[p.Address] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// nearMiss suggests what was probably meant.
func nearMiss(text string, known []string) string {
	candidates := map[string]bool{}
	for _, addr := range known {
		candidates[addr] = true
		for i := range addr { // what lies above it: blocks and modules
			if addr[i] == '[' || addr[i] == '.' {
				candidates[addr[:i]] = true
			}
		}
	}
	delete(candidates, "module")
	plain := strings.NewReplacer(`"`, "", `'`, "", `\`, "")
	given := plain.Replace(strings.TrimPrefix(text, "resource."))
	type guess struct {
		addr     string
		distance int
	}
	var guesses []guess
	for addr := range candidates {
		d, near := words.Distance(given, plain.Replace(addr))
		if strings.HasSuffix(addr, "."+given) {
			d, near = 0, true
		}
		if near {
			guesses = append(guesses, guess{addr, d})
		}
	}
	slices.SortFunc(guesses, func(a, b guess) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.addr, b.addr))
	})
	if len(guesses) == 0 {
		return " `deployster graph` and `deployster state list` show what there is."
	}
	near := make([]string, 0, 3)
	for _, g := range guesses[:min(3, len(guesses))] {
		near = append(near, g.addr)
	}
	return fmt.Sprintf(" Did you mean %s?", strings.Join(near, ", or "))
}

// nodes is what a selection chooses from: the resources of the manifest,
// those that only the state file knows, and the blocks whose instances are not
// known yet. It says which of them must be done before which.
type nodes struct {
	before, after graph.Graph
	pending       map[string]bool // the blocks
}

// everyNode gives the graph of all that there is. Blocks stand for the instances
// that they will have: what these need comes before the block, the block before
// whoever waits for its instances, and before what the state file knows of them.
// A thing that is removed comes after all that was recorded as depending on it.
func (b *builder) everyNode() nodes {
	n := nodes{before: graph.Graph{}, pending: map[string]bool{}}
	for _, p := range b.manifest.Pending() {
		n.pending[p.Address] = true
		n.before[p.Address] = slices.Concat(p.Needs, p.WaitsFor)
	}
	for _, r := range b.manifest.Resources() {
		n.before[r.Address] = slices.Concat(predecessors(r), r.WaitsFor)
	}
	gone := map[string]bool{}
	for addr := range b.prior.Resources {
		if _, declared := n.before[addr]; declared && !n.pending[addr] {
			continue
		}
		gone[addr] = true
		if block := b.pendingAbove(addr); block != "" && block != addr {
			n.before[addr] = append(n.before[addr], block)
		} else if block == "" {
			n.before[addr] = nil
		}
	}
	for dependant, entry := range b.prior.Resources {
		for _, dependency := range entry.Dependencies {
			if gone[dependency] {
				n.before[dependency] = append(n.before[dependency], dependant)
			}
		}
	}
	n.after = n.before.Reverse()
	return n
}

// collect adds a node, and all that is reached from it.
func (nodes) collect(from string, along graph.Graph, into map[string]bool) {
	open := []string{from}
	for len(open) > 0 {
		addr := open[len(open)-1]
		open = open[:len(open)-1]
		if !into[addr] {
			into[addr] = true
			open = append(open, along[addr]...)
		}
	}
}

// pendingAbove is the block, of those whose instances are not known yet, that an
// address may be an instance of; "" if there is none.
func (b *builder) pendingAbove(addr string) string {
	for _, p := range b.manifest.Pending() {
		if covered([]string{p.Address}, addr) {
			return p.Address
		}
	}
	return ""
}
