package identity_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"deployster/apply"
	"deployster/internal/base/diag"
	"deployster/internal/testkit/identity"
	"deployster/plan"
)

// tool is the whole engine as a Tool of histories.
type tool struct {
	*lab
	r    *rand.Rand
	keys map[string]identity.Key // recorded address -> its thing
	many int                     // at one time

	hosted   bool              // things are on hosts
	place    string            // where the plugs of all lead
	original map[string]string // of a copy: what is there, and in its files
}

// play returns a tool in a new directory, and what removes that.
func play(w *identity.World, seed uint64) (*tool, func(), error) {
	dir, err := os.MkdirTemp(memoryDir(), "histories-")
	if err != nil {
		return nil, nil, err
	}
	l, err := newLab(dir, w)
	t := &tool{lab: l, r: rand.New(rand.NewPCG(seed, 9)), keys: map[string]identity.Key{}, many: 1 + int(seed%2)*7}
	return t, func() { _ = errors.Join(os.RemoveAll(dir), os.RemoveAll(t.dir)) }, err
}

// memoryDir is a directory in memory, "" where there is none.
func memoryDir() string {
	const dir = "/dev/shm"
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// Fits makes the needs those of blocks, which is what a manifest can say, without a
// circle. What the instances of a block do not have in common cannot be said.
func (t *tool) Fits(m identity.Manifest) bool {
	waits := map[string]map[string]bool{} // block -> those that it waits for
	for _, a := range m.Addresses() {
		b := m[a]
		b.Needs = slices.DeleteFunc(slices.Clone(b.Needs), func(need string) bool {
			from, to := blockOf(a), blockOf(need)
			if from == to || reaches(waits, to, from) {
				return true
			}
			if waits[from] == nil {
				waits[from] = map[string]bool{}
			}
			waits[from][to] = true
			return false
		})
		b.Late = b.Late && len(b.Needs) > 0
		m[a] = b
	}
	if !t.hosted && !t.fitPlaces(m) {
		return false
	}
	for a, b := range m {
		for other, o := range m {
			if blockOf(a) == blockOf(other) && (b.Type != o.Type || b.ReadOnly != o.ReadOnly || b.CreateFirst != o.CreateFirst) {
				return false
			}
		}
	}
	return true
}

func reaches(waits map[string]map[string]bool, from, to string) bool {
	for next := range waits[from] {
		if next == to || reaches(waits, next, to) {
			return true
		}
	}
	return false
}

func blockOf(address string) string {
	name, _, _ := strings.Cut(address, "[")
	return name
}

// Apply implements identity.Tool.
func (t *tool) Apply(c identity.Command) (out identity.Outcome, err error) {
	t.site = c.Site
	before, err := t.recorded()
	if err == nil {
		out, err = t.do(c)
	}
	after, failed := t.recorded()
	if failed == nil && err == nil && !maps.Equal(away(before, c.Site), away(after, c.Site)) {
		failed = errors.New("what is recorded on a machine that is down has changed")
	}
	return out, errors.Join(err, failed)
}

// do plans a command, and applies the plan.
func (t *tool) do(c identity.Command) (out identity.Outcome, err error) {
	if err := t.declare(map[string]string{"main.hcl": source(c)}); err != nil {
		return out, err
	}
	s := plan.Selection{Replace: slices.Sorted(maps.Keys(c.Replace))}
	for _, a := range c.Target { // what is neither declared nor recorded cannot be named
		_, declared := c.Manifest[a]
		_, moved := c.Moved[a]
		if _, recorded := t.keys[a]; declared || recorded && !moved {
			s.Targets = append(s.Targets, a)
		}
	}
	p, err := t.plan(context.Background(), s, t.many)
	if err != nil && strings.Contains(err.Error(), "cannot be created first") { // it is there already: whoever reads that takes the order back
		for a, b := range c.Manifest {
			b.CreateFirst = false
			c.Manifest[a] = b
		}
		if err := t.declare(map[string]string{"main.hcl": source(c)}); err != nil {
			return out, err
		}
		p, err = t.plan(context.Background(), s, t.many)
	}
	if err != nil {
		return out, fmt.Errorf("no plan: %s", diag.From("", err)[0].Summary)
	}
	out.Told = t.told(p)
	if c.Fail > 0 {
		t.fails = func() bool { return identity.Chance(t.r, c.Fail) }
	}
	if c.Crash {
		t.death = &death{at: 1 + t.r.IntN(4), done: identity.Chance(t.r, .5)}
	}
	report, err := t.apply(context.Background(), t.many)
	died := t.death.files()
	t.fails, t.death = nil, nil
	if err := t.wrong(c); err != nil {
		return out, err
	}
	if died != nil {
		out.Status = identity.Failed
		return out, t.wake(died)
	}
	away := err != nil && diag.From("", err)[0].Summary == "Not everything was done"
	if err != nil && !away {
		return out, fmt.Errorf("no apply: %s", diag.From("", err)[0].Summary)
	}
	if out.Status = identity.Complete; away {
		out.Status = identity.Away
	}
	for _, step := range p.Resources {
		if step.Change() == plan.Left { // an end that could not wait for an identity that is known only in apply
			out.Status = identity.Partial
		}
	}
	if report.Status != apply.OK {
		out.Status = identity.Failed
		for _, d := range report.Problems {
			switch {
			case strings.Contains(d.Summary, "plan is stale"):
				out.Status = identity.Outdated
			case strings.Contains(d.Summary+d.Detail, "its removal took"):
				out.Status = identity.TookIt
			}
		}
	}
	return out, t.follow(c, report)
}

// told lists the things of which a plan says that they stay, or may.
func (t *tool) told(p *plan.Plan) (told []identity.Key) {
	from := map[string]string{}
	for _, m := range p.Moves {
		from[m.To] = m.From
	}
	for addr, step := range p.Resources {
		at := cmp.Or(from[addr], addr)
		stays := step.Change() == plan.Forget || step.Change() == plan.Left || len(step.Notes) > 0 || step.OtherObject
		if step.Old() != nil && step.Old().Change() != plan.Destroy {
			stays = true
		}
		if k, known := t.keys[at]; known && stays {
			told = append(told, k)
		}
	}
	return told
}

// follow keeps in mind which thing each recorded address has.
func (t *tool) follow(c identity.Command, report *apply.Report) error {
	now, err := t.recorded()
	keys := map[string]identity.Key{}
	from := map[string]string{}
	for _, m := range report.Moves {
		from[m.To] = m.From
	}
	for addr := range now.Resources {
		at := addr
		if was, moved := from[addr]; moved {
			at = was
		}
		keys[addr] = t.keys[at]
		res := report.Resources[addr]
		if b, declared := c.Manifest[addr]; declared && res != nil && (keys[addr] == "" || slices.Contains([]apply.Status{apply.OK, apply.Unchanged, apply.Skipped}, res.Status)) {
			keys[addr] = identity.KeyOf(b.Type, addr, b.Config)
		}
	}
	t.keys = keys
	return err
}

// Rest implements identity.Tool.
func (t *tool) Rest(c identity.Command) (string, error) {
	if err := t.declare(map[string]string{"main.hcl": source(c)}); err != nil {
		return "", err
	}
	p, err := t.plan(context.Background(), plan.Selection{}, t.many)
	if err != nil || !p.HasChanges() {
		return "", err
	}
	return shown(p), nil
}

// source writes the manifest of a command.
func source(c identity.Command) string {
	var text strings.Builder
	blocks := map[string][]string{}
	for _, a := range c.Manifest.Addresses() {
		blocks[blockOf(a)] = append(blocks[blockOf(a)], a)
	}
	placed := ""
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		first := c.Manifest[blocks[name][0]]
		var configs, needs []string
		for _, a := range blocks[name] {
			b := c.Manifest[a]
			_, key, _ := strings.Cut(strings.TrimSuffix(a, "]"), "[")
			if strings.HasPrefix(key, `"`) {
				key += " = "
			} else {
				key = ""
			}
			configs = append(configs, key+value(b))
			for _, need := range b.Needs {
				needs = append(needs, "resource."+blockOf(need))
			}
		}
		slices.Sort(needs)
		image := reference(first.Type, c.Version)
		if c.Site == nil && first.Config.Place != "" {
			image, placed = plugged(first.Type, c.Version), strings.TrimPrefix(first.Config.Place, "/")
		}
		fmt.Fprintf(&text, "resource %q {\n  type = %q\n%s  read_only = %v\n  depends_on = [%s]\n  lifecycle {\n    create_before_destroy = %v\n  }\n",
			name, image, hostOf(c, blocks[name]), first.ReadOnly, strings.Join(slices.Compact(needs), ", "), first.CreateFirst)
		switch list := strings.Join(configs, ",\n    "); {
		case name == "s":
			fmt.Fprintf(&text, "  count = %d\n  config = [\n    %s,\n  ][count.index]\n}\n", len(configs), list)
		case name == "m":
			var keys []string
			for _, a := range blocks[name] {
				keys = append(keys, a[2:len(a)-1])
			}
			fmt.Fprintf(&text, "  for_each = toset([%s])\n  config = {\n    %s,\n  }[each.key]\n}\n", strings.Join(keys, ", "), list)
		default:
			fmt.Fprintf(&text, "  config = %s\n}\n", list)
		}
	}
	text.WriteString(hosts(c.Site))
	if placed != "" {
		fmt.Fprintf(&text, "plug \"world\" {\n  path = %q\n}\n", placed)
	}
	for _, from := range slices.Sorted(maps.Keys(c.Moved)) {
		if _, there := c.Manifest[from]; there {
			continue // another block has taken the address since
		}
		fmt.Fprintf(&text, "moved {\n  from = resource.%s\n  to   = resource.%s\n}\n", from, c.Moved[from])
	}
	return text.String()
}

// value writes the config of a block. An identity that comes late is made of what the
// first of those that it waits for will be.
func value(b identity.Block) string {
	id := fmt.Sprint(b.Config.ID)
	if b.Late {
		id += " * resource." + b.Needs[0] + ".state.one"
	}
	if b.Config.Region != "" {
		return fmt.Sprintf("{ id = %s, region = %q, v = %d }", id, b.Config.Region, b.Config.V)
	}
	return fmt.Sprintf("{ id = %s, v = %d }", id, b.Config.V)
}
