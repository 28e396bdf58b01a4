package operating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"deployster/apply"
	"deployster/internal/app/draft"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/protocol"
	"deployster/state"
)

// record is where runs are recorded.
type record struct {
	journal *state.Journal
	id      string // of this run
	lineage string
}

// carry is the carrying out of tasks.
type carry struct {
	*operating
	bench  bench
	record *record // nil = the tasks change nothing
	mu     sync.Mutex
	stop   bool // something has failed: nothing new is started
}

// carryOut runs the tasks: as in an apply at most order.Hosts hosts and the parallelism of resources at a time, and nothing new
// after a failure or an interrupt.
func (r *operating) carryOut(ctx context.Context, b bench, rec *record) *apply.Report {
	r.report = apply.Refused(nil, apply.OK, nil)
	c := &carry{operating: r, bench: b, record: rec}
	end := r.command.UI.Begin("Running", len(r.tasks))
	defer end()
	byHost, names := map[string][]task{}, []string(nil)
	for _, t := range r.tasks {
		if byHost[t.host()] == nil {
			names = append(names, t.host())
		}
		byHost[t.host()] = append(byHost[t.host()], t)
	}
	var hosts, all errgroup.Group
	hosts.SetLimit(cmp.Or(r.Hosts.AtOnce, order.Hosts))
	all.SetLimit(cmp.Or(r.Parallelism, draft.DefaultParallelism))
	for _, name := range names {
		hosts.Go(func() error {
			var here sync.WaitGroup
			for _, t := range byHost[name] {
				here.Add(1)
				all.Go(func() error {
					defer here.Done()
					c.one(ctx, t)
					return nil
				})
			}
			here.Wait()
			return nil
		})
	}
	_, _ = hosts.Wait(), all.Wait() // the outcomes are in the report
	r.report.Settle(ctx.Err() != nil && r.report.Counts()[apply.NotStarted] > 0, false)
	return r.report
}

// one runs one task, and reports its outcome.
func (c *carry) one(ctx context.Context, t task) {
	out := &apply.ResourceReport{Host: t.host(), Status: apply.OK, Planned: []string{t.name}}
	c.mu.Lock()
	c.report.Resources[t.addr] = out
	stopped := c.stop || ctx.Err() != nil
	c.mu.Unlock()
	if stopped {
		out.Status, out.NotAttempted, out.Reason = apply.NotStarted, out.Planned, "an earlier one failed, or the run was interrupted"
		return
	}
	err := c.run(ctx, t, out)
	if err == nil && out.Status == apply.OK {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = true
	d := diag.From("The operation failed", err)[0]
	if d.Address == "" {
		d.Address = t.addr
	}
	c.report.Problems = append(c.report.Problems, d)
}

// run runs a task between its two records, and queries the state after it.
func (c *carry) run(ctx context.Context, t task, out *apply.ResourceReport) error {
	work := context.WithoutCancel(ctx) // what runs is ended by a second interrupt only
	work, cancel := context.WithCancel(work)
	defer cancel()
	go func() {
		select {
		case <-c.command.Abort:
			cancel()
		case <-work.Done():
		}
	}()
	key := ""
	if c.record != nil && t.operation.Changing() {
		key = fmt.Sprintf("%s/%s/%s/operation %s", c.record.lineage, c.record.id, t.addr, t.name)
		if err := c.record.journal.ActionStarted(state.Start{Address: t.key(), Action: t.name, Key: key}); err != nil {
			out.Status, out.Failed = apply.Error, "journal"
			return err
		}
	}
	recorded, jerr := false, error(nil)
	record := func(r runner.Result, err error) error {
		recorded = true
		end := state.End{Exit: r.ExitCode}
		if err != nil {
			end.Reason = err.Error()
		}
		jerr = c.record.journal.ActionEnded(t.key(), t.name, end)
		return jerr
	}
	began := time.Now()
	c.command.Applying(apply.ActionStarted{Address: t.addr, Action: t.name, Description: t.operation.Label, Host: t.host(),
		Kind: t.entry.Kind})
	result, err := c.bench.clients.Operate(work, t.step.Target(t.addr), t.step.Init, typeclient.Operation{Name: t.name,
		Input: protocol.OperationInput{Config: t.entry.Config, State: t.entry.State, Memory: t.entry.Memory, Input: t.input,
			IdempotencyKey: key},
		Ended: record})
	c.command.Applying(apply.ActionEnded{Address: t.addr, Action: t.name, Host: t.host(), Took: time.Since(began), Err: err})
	if err != nil {
		c.failed(out, t.name, err)
	} else {
		out.Completed = out.Planned
	}
	if key == "" {
		return err
	}
	switch {
	case !recorded && diag.Is[*runner.UnknownError](err):
		c.record.journal.GiveUp(t.key(), t.name)
		out.Status = apply.Unknown
		return err
	case !recorded && err != nil:
		jerr = c.record.journal.ActionEnded(t.key(), t.name, state.End{NotBegun: true, Reason: err.Error()})
	case !recorded:
		_ = record(result, err)
	}
	return errors.Join(err, jerr, c.look(work, t, out))
}

// failed puts an error into the report of a resource.
func (c *carry) failed(out *apply.ResourceReport, what string, err error) {
	out.Status, out.Failed, out.Reason = apply.Error, what, diag.From("The operation failed", err)[0].Summary
	if exit, ok := errors.AsType[*typeclient.ExitError](err); ok {
		out.ExitCode, out.Reason = exit.Code, fmt.Sprintf("exit %d", exit.Code)
		if exit.Tail != "" {
			out.LastLines = strings.Split(exit.Tail, "\n")
		}
	}
}

// look queries the state after an operation, however that ended, and records it.
func (c *carry) look(ctx context.Context, t task, out *apply.ResourceReport) error {
	c.command.Applying(apply.Checking{Address: t.addr, After: true})
	x := c.bench.session
	q := x.Query(t.addr, t.step, t.entry)
	o := x.Observe(ctx, &q, &t.entry, observe.Scope{Prior: c.bench.prior, View: observe.Recorded(c.bench.prior)})
	if o.Err != nil {
		if out.Status == apply.OK {
			out.Status, out.Failed, out.Reason = apply.Error, "state", "its state could not be queried after the operation"
		}
		return o.Err
	}
	entry, now := t.entry, time.Now().UTC()
	switch o.Answer.Status {
	case protocol.Valid:
		entry.State, entry.Sensitive.State, entry.ValidAt, entry.Dirty, entry.LastSeen = o.Answer.State, o.Hidden, now, false, nil
		if o.Answer.Memory != nil {
			entry.Memory = o.Answer.Memory
		}
	case protocol.Stale:
		entry.Dirty = false
		entry.LastSeen = &state.LastSeen{State: o.Answer.StaleState, Sensitive: o.Hidden, At: now}
		c.command.Work.Warn(diag.Warningf("The object differs from its config now", "After the operation %q, %s needs "+
			"an apply: run `deployster plan` to see the changes.", t.name, t.addr))
	default:
		c.command.Work.Warn(diag.Warningf("The object no longer exists", "After the operation %q, %s no longer "+
			"exists: run `deployster plan` to see what an apply would do.", t.name, t.addr))
		return nil // its entry stays marked as not seen
	}
	return c.record.journal.Valid(t.addr, entry)
}
