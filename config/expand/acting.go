package expand

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/source"
)

// The bounds and the defaults of retries, polling and semaphores.
const (
	maxAttempts  = 20
	maxDelay     = 5 * time.Minute
	usualDelay   = time.Second
	shortestPoll = time.Second
	maxSlots     = math.MaxInt32
)

// acting decodes how the actions of a resource run: the retries, the watch settings
// and the semaphores.
func (a *attrReader) acting(r *instance.Instance) {
	d := r.Decl
	r.Retry = instance.Retry{Attempts: 1, Delay: usualDelay}
	a.attrs, a.of = d.Retry, "a retry block"
	a.read("attempts", cty.Number, func(v cty.Value) error {
		n, err := wholeNumber(v, 1, maxAttempts)
		r.Retry.Attempts = int(n)
		return err
	})
	a.read("delay", cty.String, func(v cty.Value) (err error) {
		if r.Retry.Delay, err = duration(v.AsString()); err == nil && r.Retry.Delay > maxDelay {
			err = fmt.Errorf("%q is longer than %s", v.AsString(), maxDelay)
		}
		return err
	})
	a.watching(&r.Watch, d.Watch)
	r.Semaphores = nil
	for _, s := range d.Semaphores {
		r.Semaphores = append(r.Semaphores, s.Name)
	}
	slices.Sort(r.Semaphores)
	r.Semaphores = slices.Compact(r.Semaphores)
}

// watching decodes a watch block. Settings without an attribute keep their values.
func (a *attrReader) watching(w *instance.Watch, attrs hcl.Attributes) {
	a.attrs, a.of = attrs, "a watch block"
	a.read("poll", cty.String, func(v cty.Value) error {
		every, err := pollTime(v.AsString())
		w.Poll = &every
		return err
	})
	a.read("repair", cty.Bool, func(v cty.Value) error { w.TellOnly, w.Repair = v.False(), v.True(); return nil })
	a.read("actions", cty.List(cty.String), func(v cty.Value) (err error) {
		w.Actions, err = actionNames(v)
		w.At = source.FromHCL(attrs["actions"].Expr.Range())
		return err
	})
}

// pollTime parses the time between two polls: "0s", or at least a second.
func pollTime(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil && d == 0 {
		return 0, nil
	}
	d, err := duration(text)
	if err == nil && d < shortestPoll {
		return 0, fmt.Errorf("%q is shorter than %s. \"0s\" turns periodic checks off", text, shortestPoll)
	}
	return d, err
}

// actionNames decodes the names of the actions that a watch may run.
func actionNames(list cty.Value) ([]string, error) {
	if list.LengthInt() == 0 {
		return nil, fmt.Errorf("the list is empty, so that nothing could be done: write repair = false for that")
	}
	var names []string
	for _, v := range list.AsValueSlice() {
		if v.IsNull() || strings.TrimSpace(v.AsString()) == "" {
			return nil, fmt.Errorf("an action has a name, which is not empty")
		}
		names = append(names, v.AsString())
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// semaphore decodes one semaphore.
func (m *Instances) semaphore(b *decl.Block) (instance.Semaphore, hcl.Diagnostics) {
	s := instance.Semaphore{Name: b.Name, Slots: 1}
	a := attrReader{m: m.Modules, attrs: b.Attrs, of: "a semaphore", at: m.Modules.Top.Scope()}
	a.read("slots", cty.Number, func(v cty.Value) error {
		n, err := wholeNumber(v, 1, maxSlots)
		s.Slots = int(n)
		return err
	})
	return s, a.diags
}
