package sets

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner/runnertest"
)

// TestHistories_PurgeOnlyWhatNobodyDeclares runs random histories. Whatever happens, nothing is purged that is declared, kept, of the
// other state or unread, nothing by a plan of a part, and nothing before all resources are done; and a purge that nothing holds back
// leaves nothing else.
func TestHistories_PurgeOnlyWhatNobodyDeclares(t *testing.T) {
	t.Parallel()
	count, purged := number("DEPLOYSTER_SETS", 25), 0
	for seed := range uint64(count) {
		h := newHistory(t, seed+uint64(number("DEPLOYSTER_SETS_SEED", 0)))
		for range 12 {
			h.step()
		}
		purged += h.whole
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(h.log, "\n"))
		}
	}
	if purged < count {
		t.Errorf("only %d purges were judged in %d histories", purged, count)
	}
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// history is two states on one machine.
type history struct {
	t     *testing.T
	rand  *rand.Rand
	world *world
	dirs  [2]string
	data  string
	sites [2]site
	log   []string
	whole int // purges that nothing held back

	// unsettled reports that an apply of a state has died: while the end of an action is unknown, nothing is purged.
	unsettled [2]bool
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, rand: rand.New(rand.NewPCG(seed, 1)), dirs: [2]string{t.TempDir(), t.TempDir()}, data: t.TempDir(),
		world: &world{there: map[string]bool{}, fails: map[string]bool{}, unread: map[string]bool{}}}
	for i := range h.sites {
		h.sites[i] = site{declared: map[string]bool{}, keep: map[string]bool{}, set: i == 0}
		h.world.claimed[i], h.world.might[i] = map[string]bool{}, map[string]bool{}
	}
	return h
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func toggle(set map[string]bool, name string) {
	if set[name] {
		delete(set, name)
	} else {
		set[name] = true
	}
}

// step changes something, and applies one of the states.
func (h *history) step() {
	name, w := string("abcdef"[h.rand.IntN(6)]), h.world
	state := h.rand.IntN(3) / 2 // the one with the set more often
	s := &h.sites[state]
	switch h.rand.IntN(9) {
	case 0, 1, 2:
		if !h.sites[1-state].declared[name] {
			toggle(s.declared, name)
		}
	case 3:
		toggle(s.keep, name)
	case 4:
		toggle(w.there, name)
	case 5:
		toggle(w.fails, name)
	case 6:
		toggle(w.unread, name)
	case 7:
		if s.late = !s.late; !s.late {
			w.made[state] = false
		}
	case 8:
		w.fails, w.unread = map[string]bool{}, map[string]bool{}
	}
	w.there["foreign"] = true
	h.apply(state)
}

// apply applies a state with random flags.
func (h *history) apply(state int) {
	t, w, s := h.t, h.world, h.sites[state]
	for name, text := range manifestFiles(s) {
		if err := os.WriteFile(filepath.Join(h.dirs[state], name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := app.ApplyOptions{Approval: approval.Options{Auto: true}, KeepGoing: h.rand.IntN(2) == 0}
	r := &run{state: state, site: s, late: s.late && !w.made[state]}
	if h.rand.IntN(4) > 0 {
		o.Approval.Kinds, r.purges = new("purge"), s.set
	}
	switch h.rand.IntN(8) {
	case 0:
		o.Selection.Targets, r.purges = []string{"r_a"}, false
	case 1:
		o.Selection.Excludes, r.purges = []string{"r_b"}, false
	case 2:
		o.Paths, r.purges = []string{"main.hcl"}, false
	case 3:
		o.Selection.NoRefresh, r.purges = true, false
	}
	if h.rand.IntN(4) == 0 {
		before := h.copies()
		r.dies, r.copied = 1+h.rand.IntN(3), func() { before = h.copies() }
		defer func() {
			if r.died {
				h.restore(before)
			}
		}()
	}
	w.run = r
	maps.Copy(w.might[state], s.names())
	report, err := h.engineApply(state, o)
	ok := err == nil && report != nil && report.Status == apply.OK && !r.died
	h.note("state %d %+v: %v %+v purges %v, late %v, died %v, ok %v, %v; there %v, fails %v, unread %v", state, s, o.Paths, o.Selection, r.purges, r.late, r.died, ok, err, w.there,
		w.fails, w.unread)
	for _, wrong := range w.wrong {
		t.Error(wrong)
	}
	settled := !h.unsettled[state]
	part := len(o.Selection.Targets)+len(o.Selection.Excludes)+len(o.Paths) > 0 || o.Selection.NoRefresh
	if h.unsettled[state] = h.unsettled[state] && (!ok || part) || r.died; !ok {
		return
	}
	if !part {
		w.claimed[state], w.might[state] = s.names(), s.names()
	}
	if r.purges && !r.late && settled {
		h.whole++
		h.complete(state)
	}
}

// complete compares the world after a purge that nothing held back.
func (h *history) complete(state int) {
	w, s := h.world, h.sites[state]
	for name := range w.there {
		if !s.names()[name] && !s.keep[name] && !w.might[1-state][name] && !w.unread[name] {
			h.t.Errorf("%s is left after a purge", name)
		}
	}
}

func manifestFiles(s site) map[string]string {
	main, more := s.manifest()
	return map[string]string{"main.hcl": main, "more.hcl": more}
}

func (h *history) engineApply(state int, o app.ApplyOptions) (*apply.Report, error) {
	fake := runnertest.NewFake()
	fake.Add("job", h.world.job)
	fake.Add("id", h.world.id)
	e := app.New(app.Options{Workspace: workspace.Options{Dir: h.dirs[state], Version: "test"}, Open: func(context.Context) (app.Runtime, error) {
		return runnertest.Runtime{Fake: fake, Dir: filepath.Join(h.data, "artifacts")}, nil
	}})
	defer e.Close()
	return e.Apply(h.t.Context(), o)
}

// copies returns what the states and the machine have recorded.
func (h *history) copies() map[string]string {
	files := map[string]string{}
	for _, dir := range []string{h.dirs[0], h.dirs[1], h.data} {
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.Contains(path, "/runs/") {
				return err
			}
			text, err := os.ReadFile(path)
			files[path] = string(text)
			return err
		})
		if err != nil {
			h.t.Error(err)
		}
	}
	return files
}

// restore gives the states and the machine what they had recorded when a command died.
func (h *history) restore(files map[string]string) {
	for path := range h.copies() {
		if _, had := files[path]; !had {
			if err := os.Remove(path); err != nil {
				h.t.Error(err)
			}
		}
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			h.t.Error(err)
		}
	}
}
