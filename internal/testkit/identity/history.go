package identity

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Command is one plan and its apply.
type Command struct {
	Manifest Manifest
	Version  int               // of the types
	Moved    map[string]string // moved blocks
	Replace  map[string]bool   // -replace
	Target   []string          // -target; nil = all
	Fail     float64           // the chance of each step to fail
	Crash    bool              // the process dies in the middle
	Site     *Site             // its hosts; nil = all is here
}

// Outcome is how a command ended.
type Outcome struct {
	Status string
	Told   []Key // of what it said that it stays, or may
}

// How a command ends.
const (
	Complete = "complete"
	Failed   = "failed"
	Outdated = "plan is stale"
	Away     = "a machine did not answer"
	Partial  = "something is left for the next plan"
	TookIt   = "a removal took another thing with it"
	Deadlock = "deadlock"
	TookLate = "a removal that came too late took another thing with it"
)

// Tool plans and applies manifests, over one World.
type Tool interface {
	// Fits reports whether a manifest can be declared. It may take needs out of it.
	Fits(Manifest) bool
	// Apply carries out a command. The error is that of its plan.
	Apply(Command) (Outcome, error)
	// Rest plans, and says what there is to do, "" for nothing.
	Rest(Command) (string, error)
}

// Copier is a Tool that can leave its directory for a copy of it, state and all. The
// world has nothing there then.
type Copier interface{ Copy() error }

// History is two manifests, applied one after the other until all is done.
type History struct {
	r        *rand.Rand
	f        features
	w        *World
	a, b     Manifest
	moved    map[string]string
	replace  map[string]bool
	target   []string
	version  int
	site     *Site
	reached  map[string]bool // the machines that answer when the second manifest is applied
	tool     Tool
	births   map[Key]int // of what was there before the second manifest
	foreign  map[Key]bool
	told     map[Key]bool
	Problems map[string]bool // what must never be
	rounds   int
}

// Start draws a history and applies its first manifest; nil = it is no proper one.
func Start(seed uint64, fam Family, over func(*World, *rand.Rand) Tool) *History {
	h := &History{r: rand.New(rand.NewPCG(seed, 7)), f: featuresOf(fam.Features), w: NewWorld(), told: map[Key]bool{},
		Problems: map[string]bool{}}
	h.tool = over(h.w, h.r)
	h.a = draw(h.r, fam.Types, h.f, !(h.f["dup"] && Chance(h.r, .5)))
	if !h.a.dense() {
		return nil
	}
	for _, x := range h.a.Addresses() {
		if b := h.a[x]; h.f["roA"] && b.Type == ByIdentity && Chance(h.r, .2) {
			b.ReadOnly = true
			h.a[x] = b
		}
	}
	before := 1
	h.version = 1
	if h.f["ver"] {
		before = Pick(h.r, 0, 1, 2)
		h.version = max(before, Pick(h.r, 1, 2))
	}
	if h.f["mirror"] {
		h.version += Mirrored
	}
	for _, x := range h.a.Addresses() {
		if b := h.a[x]; b.ReadOnly {
			k := KeyOf(b.Type, x, b.Config)
			if h.w.Things[k] == nil {
				h.w.Make(k, b.Config.V, true)
			}
			h.w.Things[k].Is = b.Config.V
		}
	}
	if !h.tool.Fits(h.a) {
		return nil
	}
	if h.f["machines"] {
		h.site = newSite(h.r)
	}
	if !h.first(Command{Manifest: h.a, Version: before, Site: h.site}) {
		return nil
	}
	if h.f["copy"] {
		if c, can := h.tool.(Copier); !can || c.Copy() != nil {
			return nil
		}
	}
	h.b, h.moved = edit(h.r, h.a, fam.Types, h.f)
	if h.site != nil {
		h.site = h.site.next(h.r, h.b, h.f)
		h.reached = map[string]bool{}
		for _, at := range h.site.Answers {
			h.reached[at] = !h.site.Down[at]
		}
	}
	if !h.b.dense() || !h.b.unique() || !h.sameTypes() || !h.onlyLooks() || !h.tool.Fits(h.b) {
		return nil
	}
	h.drift()
	h.births, h.foreign = map[Key]int{}, map[Key]bool{}
	for k, t := range h.w.Things {
		h.births[k], h.foreign[k] = t.Birth, t.Foreign
	}
	h.choose()
	return h
}

// first applies the first manifest; where it is to fail or to die, what it has come to
// until then is what the second one finds.
func (h *History) first(c Command) bool {
	if !h.f["half"] {
		out, err := h.tool.Apply(c)
		return err == nil && out.Status == Complete
	}
	if c.Crash = h.f["crash"]; !c.Crash {
		c.Fail = .3
	}
	out, err := h.tool.Apply(c)
	for _, k := range out.Told {
		h.told[k] = true
	}
	return err == nil && out.Status == Failed
}

// sameTypes reports whether no address changes its type.
func (h *History) sameTypes() bool {
	for a, b := range h.b {
		if was, there := h.a[a]; there && was.Type != b.Type {
			return false
		}
	}
	return true
}

// onlyLooks makes what is only looked at right, and reports whether that can be.
func (h *History) onlyLooks() bool {
	for _, a := range h.b.Addresses() {
		b := h.b[a]
		if !b.ReadOnly {
			continue
		}
		k := KeyOf(b.Type, a, b.Config)
		if h.w.Things[k] == nil {
			h.w.Make(k, b.Config.V, true)
		}
		b.Config.V = h.w.Things[k].Is
		h.b[a] = b
		for other, o := range h.b {
			if !o.ReadOnly && KeyOf(o.Type, other, o.Config) == k && o.Config.V != b.Config.V {
				return false
			}
		}
	}
	return true
}

// drift changes and removes things behind the tool's back.
func (h *History) drift() {
	if !h.f["drift"] {
		return
	}
	looked := map[Key]bool{}
	for a, b := range h.b {
		if b.ReadOnly {
			looked[KeyOf(b.Type, a, b.Config)] = true
		}
	}
	for i, k := range slices.Sorted(maps.Keys(h.w.Things)) {
		switch {
		case !Chance(h.r, .12) || looked[k]:
		case Chance(h.r, .5):
			delete(h.w.Things, k)
		default:
			h.w.Things[k].Is = 100 + i // no two drift alike: they would be taken for one
		}
	}
}

// choose draws what the first apply of the second manifest is about.
func (h *History) choose() {
	h.replace = map[string]bool{}
	if h.f["replace"] {
		for _, a := range some(h.r, h.b.Addresses(), .2) {
			h.replace[a] = true
		}
	}
	if !h.f["target"] {
		return
	}
	all := map[string]bool{}
	for _, m := range []Manifest{h.a, h.b} {
		for a := range m {
			all[a] = true
		}
	}
	list := slices.Sorted(maps.Keys(all))
	if len(list) == 0 {
		list = []string{"r0"}
	}
	h.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	h.target = list[:1+h.r.IntN(max(1, len(list)/2))]
}

func (h *History) problem(format string, args ...any) {
	h.Problems[fmt.Sprintf(format, args...)] = true
}

// Run applies the second manifest until all is done, and then looks.
func (h *History) Run() {
	status := ""
	for h.rounds = 1; h.rounds <= 6 && !h.round(&status); h.rounds++ {
	}
	if status != Complete && len(h.Problems) == 0 {
		h.problem("it never ends: %s", status)
	}
	h.lost("")
	h.leftOver()
	h.leftThere()
	if len(h.Problems) == 0 {
		h.nothingToDo()
	}
}

// round is one plan and apply; it reports whether it was the last.
func (h *History) round(status *string) bool {
	replace, target, fail := h.replace, h.target, 0.0
	if h.rounds > 1 {
		replace, target = nil, nil
	}
	if h.f["fail"] && h.rounds <= 2 {
		fail = .12
	}
	crash := h.f["crash"] && h.rounds <= 2 && Chance(h.r, .7)
	if h.rounds > 2 {
		h.site = h.site.up()
	}
	out, err := h.tool.Apply(Command{h.b, h.version, h.moved, replace, target, fail, crash, h.site})
	if err != nil {
		h.problem("%s", err)
		return true
	}
	*status = out.Status
	if crash && *status == Failed && Chance(h.r, .5) {
		h.drop()
	}
	for _, k := range out.Told {
		h.told[k] = true
	}
	switch {
	case *status == Deadlock, *status == TookLate, *status == TookIt && !h.tellable():
		h.problem("%s", *status)
		return true
	case target != nil:
		h.lost(", selected")
		h.known(1)
		return false
	case *status == Complete:
		for _, a := range h.b.Addresses() {
			if is, _ := h.w.Ask(h.b[a].Type, a, h.b[a].Config); is != Valid {
				h.problem("complete, but a declared thing is not right")
			}
		}
		return true
	}
	h.known(.7)
	return false
}

// drop takes a block out that nobody needs: what has been made of it has to go.
func (h *History) drop() {
	needed := map[string]bool{}
	for _, b := range h.b {
		for _, need := range b.Needs {
			needed[blockOf(need)] = true
		}
	}
	for from, to := range h.moved { // without its block, an address is moved again: that is refused
		needed[from], needed[to] = true, true
	}
	for _, a := range h.b.Addresses() {
		if blockOf(a) != "s" && !needed[blockOf(a)] {
			h.b = h.b.clone()
			delete(h.b, a)
			return
		}
	}
}

// known makes identities that came late known, as they are in a later plan.
func (h *History) known(p float64) {
	for _, a := range h.b.Addresses() {
		if b := h.b[a]; b.Late && (Chance(h.r, p) || h.rounds >= 2) {
			b.Late = false
			h.b[a] = b
		}
	}
}
