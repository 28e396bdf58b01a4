package hosts

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"deployster/apply/fresh"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan/exclusive"
)

// Claims are what the state of a plan declares on each machine, as machines record it around an apply.
type Claims struct {
	at   *router.Places
	list []*exclusive.Claim
}

// ClaimsOf returns the claims of a plan, for a state with a lineage and a place.
func ClaimsOf(at *router.Places, list []*exclusive.Claim, lineage, place string) *Claims {
	for _, c := range list {
		c.Record.Lineage, c.Record.State = lineage, place
	}
	return &Claims{at, list}
}

// Begin records the claims before anything is done. It returns an error where another state is in conflict with them, and
// warnings about hosts that could not record them.
func (c *Claims) Begin(ctx context.Context) (diag.Diagnostics, error) {
	return c.each(func(one *exclusive.Claim) error {
		if len(one.Record.Objects)+len(one.Record.Sets)+len(one.Record.Purges) == 0 {
			return nil
		}
		others, err := c.at.Claim(ctx, one.Host, claims.Request{Step: claims.Begin, Record: one.Record})
		if err == nil {
			err = conflict(one, others)
		}
		return err
	})
}

// End records the claims after an apply. whole reports that all of the plan was done, and that it left nothing out.
func (c *Claims) End(ctx context.Context, whole bool) (diag.Diagnostics, error) {
	return c.each(func(one *exclusive.Claim) error {
		step := claims.End
		if whole && !one.Unknown {
			step = claims.EndAll
		}
		_, err := c.at.Claim(ctx, one.Host, claims.Request{Step: step, Record: one.Record})
		return err
	})
}

// each calls do for the claims, several at a time. What a host cannot record is a warning.
func (c *Claims) each(do func(*exclusive.Claim) error) (warnings diag.Diagnostics, err error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	slots := make(chan struct{}, 32)
	for _, one := range c.list {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			wrong := do(one)
			mu.Lock()
			defer mu.Unlock()
			if of, is := errors.AsType[*runner.HostError](wrong); is {
				warnings = append(warnings, diag.Warningf("What is declared was not recorded", "%s could not record what this state "+
					"declares there: %s. An exclusive set of another state may destroy that. The next apply records it.", of.Host.Name,
					diag.Visible(of.Err.Error())))
			} else if wrong != nil {
				err = errors.Join(err, wrong)
			}
		})
	}
	wait.Wait()
	warnings.Sort()
	return warnings, err
}

// conflict returns the error about a claim that another state does not allow; nil = there is none.
func conflict(c *exclusive.Claim, others []claims.Record) error {
	found := c.Record.Conflict(others)
	if found == nil {
		return nil
	}
	where := "this machine"
	if c.Host != nil {
		where = "host." + c.Host.Name
	}
	with := fmt.Sprintf("the state %s (lineage %s)", diag.Visible(found.With.State), diag.Visible(found.With.Lineage))
	gone := fmt.Sprintf("If that state is lost, remove the file declared/%s in the data directory there.", diag.Visible(found.With.Lineage))
	switch {
	case found.Sets[0] != "":
		return diag.Errorf("Exclusive sets that overlap", "On %s %s has exclusive.%s, which may list what exclusive.%s lists. One of the "+
			"two would destroy what the other keeps. Nothing was changed. Remove one of the blocks, or narrow both. %s", where, with,
			diag.Visible(found.Sets[1]), found.Sets[0], gone)
	case found.Purges:
		return diag.Errorf("An exclusive set destroys it now", "On %s %s destroys the object of %s now, or was interrupted in that. "+
			"Nothing was changed. Apply again when that has ended. %s", where, with, c.Name(found.Object), gone)
	}
	return fresh.Stale("another state has declared what it purges", fmt.Sprintf("On %s %s has declared the object of %s. Nothing was "+
		"changed. Plan again: it is kept.", where, with, c.Name(found.Object)))
}
