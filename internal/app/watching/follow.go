package watching

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/internal/app/repairs"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/state"
)

// How often the images of followed artifacts are checked for new versions, without an option, and the longest time
// between two tries to apply the same version.
const (
	followEvery = time.Minute
	followAgain = time.Hour
)

// followed reads the names of artifacts from the option, which has addresses.
func followed(o Options, kinds []plan.Change) ([]string, error) {
	var names []string
	for _, address := range o.Follow {
		name, ok := strings.CutPrefix(address, "artifact.")
		if !ok || name == "" {
			return nil, diag.Errorf("Invalid flag value", "-follow takes the address of an artifact, such as artifact.site, and not %q.",
				diag.Visible(address))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 && !slices.ContainsFunc(kinds, func(k plan.Change) bool { return k != repair.Kind }) {
		return nil, diag.Errorf("Conflicting flags",
			"-follow applies new versions, and -approve=%s approves no change: add the kinds that "+
				"need no approval, such as -approve=drift,update.", diag.Visible(o.Approve))
	}
	return names, nil
}

// follower finds new versions of artifacts, which are then applied as SIGHUP applies the manifests.
type follower struct {
	w     *watcher
	every time.Duration
	tries map[string]*try // by artifact
	wrong string          // why the last check failed
}

// try is what could not be done, and is tried again.
type try struct {
	version string        // the version of an artifact that was to be applied, or why an operation did not begin
	next    time.Time     // when it is tried again
	pause   time.Duration // before that
}

func newFollower(w *watcher) *follower {
	f := &follower{w: w, every: followEvery, tries: map[string]*try{}}
	if w.Poll != nil && *w.Poll > 0 {
		f.every = *w.Poll
	}
	return f
}

// loop checks the artifacts regularly, and requests an apply where one has a new version, until ctx ends.
func (f *follower) loop(ctx context.Context) {
	keeper := f.w.engine.Child(f.w.engine.Command.Work.Events, f.w.looks)
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.w.mu.Lock()
		source, prior := f.w.current.source, f.w.current.look.prior
		f.w.mu.Unlock()
		f.check(ctx, keeper, source, prior)
	}
}

// check checks the artifacts once.
func (f *follower) check(ctx context.Context, keeper repairs.Keeper, source *repairs.Source, prior state.Snapshot) {
	newer, err := keeper.Newer(ctx, source, prior, f.w.Selection.Follow)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		if f.wrong != err.Error() { // else it was reported
			f.wrong = err.Error()
			keeper.Command.Work.Diagnostics(diag.From("Cannot check for new versions", err))
		}
		return
	}
	f.wrong = ""
	found := f.due(newer, time.Now())
	if len(found) == 0 {
		return
	}
	f.w.status(NewVersion, "new version: "+strings.Join(found, "; "), "")
	tried := make(chan struct{})
	select {
	case f.w.follows <- tried:
	case <-ctx.Done():
		return
	}
	select {
	case <-tried:
	case <-ctx.Done():
	}
}

// due returns the artifacts whose new version is to be applied now, in words. One that could not be applied is tried
// again after pauses that grow to followAgain.
func (f *follower) due(newer map[string]string, now time.Time) (found []string) {
	for name := range f.tries {
		if newer[name] == "" {
			delete(f.tries, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(newer)) {
		t := f.tries[name]
		switch {
		case t == nil || t.version != newer[name]:
			t = &try{version: newer[name], pause: f.every}
			f.tries[name] = t
		case now.Before(t.next):
			continue
		default:
			t.pause = min(2*t.pause, max(followAgain, f.every))
		}
		t.next = now.Add(t.pause)
		found = append(found, fmt.Sprintf("artifact.%s %s", name, t.version))
	}
	return found
}
