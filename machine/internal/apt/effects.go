package apt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// effects are the packages that an action changes, as a plan shows them.
type effects struct {
	Open    bool     `json:"open,omitempty"` // what it installs is known only when it runs
	Adds    []string `json:"adds,omitempty"` // what it installs, or gives another version
	Removes []string `json:"removes,omitempty"`
}

// effects returns what a transaction changes.
func (t transaction) effects() effects {
	var e effects
	for _, s := range t {
		if s.to == "" {
			e.Removes = append(e.Removes, s.name)
		} else {
			e.Adds = append(e.Adds, s.name)
		}
	}
	slices.Sort(e.Adds)
	slices.Sort(e.Removes)
	return e
}

func (e effects) encoded() json.RawMessage {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // a list of texts can be encoded
	}
	return text
}

// shownEffects returns what was shown of an action. Where nothing was, as when a person runs it by
// hand, it may install what it needs, and removes nothing.
func shownEffects(raw json.RawMessage) (e effects, err error) {
	if len(raw) == 0 {
		return effects{Open: true}, nil
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("the effects that were shown cannot be read: %w", err)
	}
	return e, nil
}

// staleError reports that a transaction would do what no plan has shown.
type staleError struct{ adds, removes []string }

func (e *staleError) Error() string {
	var also []string
	if len(e.adds) > 0 {
		also = append(also, "install or change "+listed(e.adds))
	}
	if len(e.removes) > 0 {
		also = append(also, "remove "+listed(e.removes))
	}
	return fmt.Sprintf("apt would also %s, which the plan did not show: nothing was changed. Plan again to see what is to be done now",
		strings.Join(also, " and "))
}

// within returns a *staleError if a transaction does what was not shown for any of its members:
// several packages together may need others than each of them alone.
func (t transaction) within(group []member) error {
	var shown effects
	for _, x := range group {
		shown.Open = shown.Open || x.shown.Open
		shown.Adds, shown.Removes = append(shown.Adds, x.shown.Adds...), append(shown.Removes, x.shown.Removes...)
		if x.verb != "install" {
			shown.Removes = append(shown.Removes, x.name, bare(x.name))
		}
	}
	now, more := t.effects(), staleError{}
	if !shown.Open {
		more.adds = slices.DeleteFunc(now.Adds, func(name string) bool { return slices.Contains(shown.Adds, name) })
	}
	more.removes = slices.DeleteFunc(now.Removes, func(name string) bool { return slices.Contains(shown.Removes, name) })
	if len(more.adds)+len(more.removes) == 0 {
		return nil
	}
	return &more
}
