package remote

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
)

// crowded is a place that has no room at first.
type crowded struct{ *place }

func (c crowded) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Waiting != nil {
		for _, reason := range []string{"no room", "0/3 nodes are available", ""} {
			s.Waiting(reason)
		}
	}
	return c.place.Run(ctx, s)
}

func (c crowded) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	if s.Waiting != nil {
		s.Waiting("no room")
	}
	return c.place.Launch(ctx, s)
}

func (crowded) Inspect(_ context.Context, i Inspection) (Found, error) {
	if i.Prune {
		return Found{}, errors.New("it may not delete")
	}
	return Found{Facts: []string{"agent 1"}, Notes: []string{"events may not be read"}, Ended: 2}, nil
}

// Why a program has not begun reaches the caller, in order, if there is one who wants it.
func TestClient_HearsWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	c, _, _ := connect(t, crowded{newPlace()}, Hello{Build: "b1", Epoch: 1}, quick())
	var heard []string
	s := probe(t, c, "exit", "0")
	s.Waiting = func(reason string) { heard = append(heard, reason) }
	if _, err := c.Run(t.Context(), s); err != nil || !slices.Equal(heard, []string{"no room", "0/3 nodes are available", ""}) {
		t.Errorf("%q, %v", heard, err)
	}
	heard = nil
	s.Kind = runner.Query
	p, err := c.Launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Wait()
	if err != nil || !slices.Equal(heard, []string{"no room"}) {
		t.Errorf("launched: %q, %v", heard, err)
	}
	s.Waiting = nil
	if _, err := c.Run(t.Context(), s); err != nil {
		t.Error(err)
	}
}

func TestClient_Inspects(t *testing.T) {
	t.Parallel()
	c, _, _ := connect(t, crowded{newPlace()}, Hello{Build: "b1"}, quick())
	if found, err := c.Inspect(t.Context(), Inspection{}); err != nil || found.Ended != 2 || !slices.Equal(found.Facts, []string{"agent 1"}) {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := c.Inspect(t.Context(), Inspection{Prune: true}); err == nil || !strings.Contains(err.Error(), "may not delete") {
		t.Errorf("got %v", err)
	}
	c, _, _ = connect(t, newPlace(), Hello{Build: "b1"}, quick())
	if _, err := c.Inspect(t.Context(), Inspection{}); err == nil {
		t.Error("a place that cannot be inspected was")
	}
}

// The fence of a place orders clients by the epoch, and within a store by their turns.
func TestFence_RefusesTheOlder(t *testing.T) {
	t.Parallel()
	f := Fence{Epoch: 5, Run: "one", Store: "pg", Turn: 7, Process: "deployster apply"}
	for name, c := range map[string]struct {
		hello   Hello
		acted   bool
		refused string
	}{
		"an older epoch":                        {Hello{Epoch: 4, Run: "two", Store: "pg", Turn: 9}, false, "taken over"},
		"a newer epoch":                         {Hello{Epoch: 6, Run: "two"}, true, ""},
		"the same client":                       {Hello{Epoch: 5, Run: "one", Store: "pg", Turn: 7}, true, ""},
		"an earlier turn":                       {Hello{Epoch: 5, Run: "two", Store: "pg", Turn: 6}, false, "taken over"},
		"a later turn":                          {Hello{Epoch: 5, Run: "two", Store: "pg", Turn: 8}, true, ""},
		"another store that knows of no action": {Hello{Epoch: 5, Run: "two", Store: "s3", Turn: 8}, true, "has changed the Pod already"},
		"another store before any action":       {Hello{Epoch: 5, Run: "two", Store: "s3", Turn: 8}, false, ""},
	} {
		f := f
		f.Acted = c.acted
		err := f.Refuses(c.hello, "the Pod")
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := f.Admit(Hello{Epoch: 6, Run: "two", Process: "p"}); got != (Fence{Epoch: 6, Run: "two", Process: "p"}) {
		t.Errorf("a newer one: %+v", got)
	}
	f.Acted = true
	if got := f.Admit(Hello{Epoch: 5, Run: "one", Store: "pg", Turn: 7, Process: "deployster apply"}); got != f {
		t.Errorf("the same again: %+v", got)
	}
}
