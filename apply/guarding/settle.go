package guarding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deployster/apply/report"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/plan"
)

// Held is a resource as it ended, before its group is settled.
type Held struct {
	report.Ended
	Change plan.Change
	Start  time.Time

	record func(report.Ended) report.Ended // nil = nothing is recorded
}

// Hold notes how a resource ended whose group is not settled.
func (g *Group) Hold(e report.Ended, change plan.Change, start time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.heldOf(e.Addr)
	h.Ended, h.Change, h.Start = e, change, start
}

// WhenKept notes what records a resource once its group is confirmed. It returns how the resource
// ended with that.
func (g *Group) WhenKept(addr string, record func(report.Ended) report.Ended) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heldOf(addr).record = record
}

func (g *Group) heldOf(addr string) *Held {
	if g.held[addr] == nil {
		g.held[addr] = &Held{}
	}
	return g.held[addr]
}

// Conclude has the host confirm or undo a group, and returns how its resources ended with that. lose
// is called for each whose actions are not known to stay.
func (g *Group) Conclude(ctx context.Context, hide func(string) string, lose func(addr string)) (all []*Held) {
	keep, after := g.Whole(), g.after()
	verdict, err := g.decide(ctx)
	if hide != nil {
		verdict.Failure = hide(verdict.Failure)
	}
	for _, addr := range g.of {
		h := g.held[addr]
		if h == nil || h.Node == "" {
			continue
		}
		switch {
		case err != nil && h.Acted:
			lose(addr)
			h.undone("whether they were undone is unknown: "+diag.From("Unknown", err)[0].Detail, keep)
			h.Report.Status = report.Unknown
		case verdict.Verdict == runner.Confirmed && h.record != nil:
			h.Ended = h.record(h.Ended)
		case verdict.Verdict == runner.Confirmed, !h.Acted:
		default:
			lose(addr)
			h.undone(why(verdict, keep, after), keep)
		}
		all = append(all, h)
	}
	clear(g.held)
	return all
}

// why reports why a group was undone.
func why(s runner.Settlement, keep bool, after time.Duration) string {
	switch {
	case s.Verdict != runner.Undone:
		return "its undo has not succeeded yet, and is repeated there: " + diag.Visible(s.Failure)
	case keep:
		return fmt.Sprintf("the host could not be reached again within %gs", after.Seconds())
	}
	return "not all of its group was done"
}

// undone notes that the actions of a resource were undone.
func (h *Held) undone(why string, keep bool) {
	if h.Failed() && !keep {
		h.Report.Reason = strings.TrimSuffix(h.Report.Reason, ".") + "; " + report.Reverted
		if h.Problem != nil {
			h.Problem.Detail = strings.TrimSpace(h.Problem.Detail + " What its actions did was undone: " + why + ".")
		}
		return
	}
	last := cmp.Or(h.Report.Failed, report.Reverted)
	if n := len(h.Report.Completed); n > 0 {
		last = h.Report.Completed[n-1]
	}
	h.Report.Status, h.Report.Failed, h.Report.Reason = report.Error, last, report.Reverted+": "+why
	h.Problem = diag.Errorf("Its actions were undone", "%s. The host has what it had before.", why)
	h.Problem.Address = h.Addr
}

// Replace replaces how a resource ended.
func Replace(ended []report.Ended, now report.Ended) {
	if i := slices.IndexFunc(ended, func(e report.Ended) bool { return e.Node == now.Node }); i >= 0 {
		ended[i] = now
	}
}

// Sentence returns what is done about the group of resources on a host, in one line.
func Sentence(host string, resources []string, keep bool) string {
	if keep {
		return fmt.Sprintf("%s: connecting again, so that the changes of %s stay", host, words.List(resources, 10))
	}
	return fmt.Sprintf("%s: undoing the changes of %s, since not all of them were made", host, words.List(resources, 10))
}
