package watching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/apply"
	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/events"
	"deployster/state"
	"deployster/state/actions"
)

// busyEvery is how often a repair tries to open a state that another command holds.
const busyEvery = 100 * time.Millisecond

// repairer repairs what drifted: each repair is a run.
type repairer struct {
	w      *watcher
	look   *looker
	source *repairs.Source
	whole  bool // it applies the manifests, as far as they are approved
}

// Repair does one repair. While another command holds the state it waits.
func (r *repairer) Repair(ctx context.Context, addrs []string) (map[string]watch.Outcome, error) {
	held := false
	for {
		began := time.Now()
		if err := r.w.leaveFree(ctx); err != nil {
			return nil, err
		}
		outcomes, err := r.once(ctx, addrs)
		switch {
		case errors.Is(err, state.ErrLocked):
			if !held {
				r.w.status(Held, "held: "+holder(err)+". Checks continue, repairs wait", holder(err))
			}
			held = true
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(r.w.busy()):
			}
			r.w.metrics.Waited(time.Since(began))
			continue
		case held:
			r.w.status(Released, "released: repairs continue", "")
		}
		if errors.Is(err, repairs.ErrElsewhere) {
			select {
			case r.w.again <- struct{}{}:
			default:
			}
			return nil, watch.ErrElsewhere
		}
		return outcomes, err
	}
}

// leaveFree waits until a state in a store was free for a while after the last repair.
func (w *watcher) leaveFree(ctx context.Context) error {
	w.stateMu.Lock()
	wait := time.Until(w.letGo.Add(leftFree))
	w.stateMu.Unlock()
	if wait <= 0 || !w.shared() {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}

// busy returns the time after which a state that another command holds is tried again.
func (w *watcher) busy() time.Duration {
	if w.shared() {
		return lookEvery
	}
	return busyEvery
}

// holder returns who holds the state.
func holder(err error) string {
	list := diag.From("", err)
	text, _, _ := strings.Cut(list[0].Detail, ". ")
	return text
}

// once does one repair, if the state is free.
func (r *repairer) once(ctx context.Context, addrs []string) (map[string]watch.Outcome, error) {
	w := r.w
	w.stateMu.Lock()
	defer w.stateMu.Unlock()
	defer w.repairing(addrs)()
	run := &repairRun{w: w, addrs: addrs}
	e := w.engine.Child(run.send, run)
	r.w.mu.Lock()
	prior, seen := r.look.prior, r.look.looker
	r.w.mu.Unlock()
	done, err := e.Repair(ctx, repairs.RepairOptions{Source: r.source, Prior: prior, Addresses: addrs, Whole: r.whole, Kinds: w.kinds,
		Checker: seen, Ended: func() { w.mark, w.letGo = w.marked(r.source), time.Now() }})
	if err != nil && done.Report == nil {
		status := apply.Error
		if errors.Is(err, context.Canceled) {
			status = apply.Interrupted
		}
		run.end(status, nil)
		return nil, err
	}
	outcomes := outcomesOf(addrs, done)
	w.mu.Lock()
	for _, addr := range addrs {
		delete(w.reasons, addr)
	}
	maps.Copy(w.reasons, done.Refused)
	w.mu.Unlock()
	if done.Report == nil && done.Broken != nil { // otherwise its run has reported it
		w.engine.Command.Work.Diagnostics(diag.From("Cannot repair", done.Broken))
	}
	if r.whole {
		for _, addr := range slices.Sorted(maps.Keys(done.Refused)) {
			w.resource(addr, "not_approved", events.ResourceWatch{Detail: done.Refused[addr]}, "not applied: "+done.Refused[addr])
		}
	}
	if done.Report != nil {
		run.end(done.Report.Status, done.Report)
	} else {
		run.end(apply.OK, nil)
	}
	if done.Snapshot.Serial != prior.Serial {
		if err := r.look.with(ctx, done.Snapshot); err != nil && ctx.Err() == nil {
			return outcomes, errors.Join(err, repairs.ErrElsewhere)
		}
		r.renew(prior, done)
	}
	return outcomes, nil
}

// renew has processes restarted whose inputs are no longer the recorded ones, and starts
// to watch resources that the manifest had changed and the repair has applied.
func (r *repairer) renew(prior state.Snapshot, done repairs.Repaired) {
	if r.whole || done.Report == nil {
		return // everything is read again after that
	}
	for addr := range done.Report.Resources {
		if requested(addr, prior.Resources[addr]) != requested(addr, done.Snapshot.Resources[addr]) {
			select {
			case r.w.renews <- struct{}{}:
			default:
			}
			return
		}
	}
}

// repairing notes which resources are being repaired, until end is called.
func (w *watcher) repairing(addrs []string) (end func()) {
	note := func(list []string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.repairs = list
	}
	note(addrs)
	return func() { note(nil) }
}

// outcomesOf returns the outcome of each resource.
func outcomesOf(addrs []string, done repairs.Repaired) map[string]watch.Outcome {
	out := map[string]watch.Outcome{}
	for _, addr := range addrs {
		out[addr] = watch.NotApproved // it, or what it depends on
		switch {
		case slices.Contains(done.Planned, addr): // nothing to do, unless the report declares otherwise
			out[addr] = watch.Right
		case done.Refused[addr] == "" && (done.Broken != nil || slices.Contains(done.Later, addr)):
			out[addr] = watch.Failed // it is tried again
		}
	}
	if done.Report == nil {
		return out
	}
	for addr, r := range done.Report.Resources {
		switch {
		case done.Unrefreshed[addr], r.Status == apply.Left: // its state was not queried
		case r.Status == apply.OK:
			out[addr] = watch.Repaired
		case r.Status == apply.Unchanged, r.Status == apply.Skipped:
			out[addr] = watch.Right
		case r.Status == apply.NotStarted && strings.HasPrefix(r.Reason, "not approved"):
			out[addr] = watch.NotApproved
		default:
			out[addr] = watch.Failed
		}
	}
	return out
}

// repairRun is the run of a repair. It begins when there is something to record: a repair
// that finds nothing to do is not a run.
type repairRun struct {
	w     *watcher
	addrs []string
	title string // what is done, if it is not a repair
	run   *Recording
	early []events.Event
	asked []typeclient.Invocation
	from  time.Time
}

// Begin starts the records of the run.
func (b *repairRun) Begin() {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	if b.run != nil {
		return
	}
	r := b.w.Record()
	b.run, b.from = &r, time.Now()
	r.Records.Begin()
	message := "Applying the manifests"
	if len(b.addrs) > 0 {
		message = "Repairing " + strings.Join(b.addrs, ", ")
	}
	message = cmp.Or(b.title, message)
	b.out(events.Event{Level: events.Info, Message: message, Body: events.RepairStarted{Resources: append([]string{}, b.addrs...)}})
	for _, e := range b.early {
		b.out(e)
	}
	for _, i := range b.asked {
		r.Records.Add(i)
	}
	b.early, b.asked = nil, nil
}

// Add records an invocation, or keeps it until the run begins.
func (b *repairRun) Add(i typeclient.Invocation) {
	b.w.mu.Lock()
	run := b.run
	if run == nil {
		b.asked = append(b.asked, i)
	}
	b.w.mu.Unlock()
	if run != nil {
		run.Records.Add(i)
	}
}

// Applies names the plan of the run.
func (b *repairRun) Applies(plan string, signedBy []string, overrides []actions.Override) {
	b.Begin()
	b.run.Records.Applies(plan, signedBy, overrides)
}

// Report records the report.
func (b *repairRun) Report(content []byte) {
	b.Begin()
	b.run.Records.Report(content)
}

// send takes the events of the plan and of the apply.
func (b *repairRun) send(e events.Event) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	if b.run == nil {
		b.early = append(b.early, e)
		return
	}
	b.out(e)
}

func (b *repairRun) out(e events.Event) {
	b.run.Send(e)
	e.Run = b.run.Run
	b.w.engine.Command.Work.Events(e)
}

func (b *repairRun) end(status apply.Status, report *apply.Report) {
	if b.run == nil {
		return
	}
	b.w.metrics.Repaired(string(status))
	b.out(events.OfRepair(b.addrs, status))
	if report != nil {
		b.w.line("%s  run %s", summary(report, time.Since(b.from)), b.run.Run)
	}
	b.run.End(status)
}

// summary returns a line about what a repair did.
func summary(report *apply.Report, took time.Duration) string {
	var parts []string
	for _, addr := range slices.Sorted(maps.Keys(report.Resources)) {
		r := report.Resources[addr]
		switch {
		case r.Status == apply.OK && len(r.Completed) > 0:
			parts = append(parts, fmt.Sprintf("%s: %s ok", addr, strings.Join(r.Completed, ", ")))
		case r.Status == apply.OK:
			parts = append(parts, addr+": ok")
		case r.Status == apply.Unchanged, r.Status == apply.Skipped, r.Status == apply.Kept, r.Status == apply.Left:
		default:
			parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", addr, strings.ReplaceAll(string(r.Status), "_", " "),
				r.Reason), ": "))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing was left to do"}
	}
	return strings.Join(parts, "; ") + " after " + took.Round(time.Millisecond).String()
}
