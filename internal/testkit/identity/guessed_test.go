package identity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/testkit/identity"
	"deployster/plan"
)

// named declares a resource of a type that knows its things by the name of the resource, and
// does not say so.
func named(name string, id, v int, rest string) string {
	return fmt.Sprintf("resource %q {\n  type = \"lab/name:1\"\n  config = { id = %d, v = %d }\n  %s\n}\n", name, id, v, rest)
}

// Where nothing exists under either name, nothing can confirm the guess that a config has moved
// to another address, and the guess is withdrawn.
func TestGuess_OfWhatIsGone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		gone bool
		done string
	}{
		"it is there, so that the guess does not hold": {false, "make 1, make 1, remove 1, change 1"},
		"it is gone": {true, "make 1, make 1, make 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := newLab(t.TempDir(), identity.NewWorld())
			if err != nil {
				t.Fatal(err)
			}
			from := ""
			for i, m := range []string{named("a", 1, 2, "") + named("b", 1, 1, "depends_on = [resource.a]"), named("a", 1, 1, "")} {
				if err := l.declare(map[string]string{"main.hcl": m}); err != nil {
					t.Fatal(err)
				}
				p, err := l.plan(t.Context(), plan.Selection{}, 1)
				if err != nil {
					t.Fatal(err)
				}
				from = p.Resources["a"].MovedFrom
				if _, err := l.apply(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				if test.gone && i == 0 {
					clear(l.world.Things)
				}
			}
			if done := strings.Join(l.take(), ", "); from != "" || done != test.done || !slices.Equal(l.ids(), []string{"a"}) {
				t.Errorf("moved from %q, done: %s; there are %q", from, done, l.ids())
			}
		})
	}
}

// What was to be removed is gone before the apply, and another thing of its type has changed: the
// removal, which ran nothing, has not done that.
func TestRemoval_OfWhatIsGoneIsNotBlamed(t *testing.T) {
	t.Parallel()
	l, err := newLab(t.TempDir(), identity.NewWorld())
	if err != nil {
		t.Fatal(err)
	}
	var report *apply.Report
	for i, m := range []string{named("a", 1, 1, "") + named("b", 2, 1, ""), named("a", 1, 1, "")} {
		if err := l.declare(map[string]string{"main.hcl": m}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.plan(t.Context(), plan.Selection{}, 1); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			delete(l.world.Things, "name b")
			l.world.Things["name a"].Is = 100
		}
		if report, err = l.apply(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	a, b := report.Resources["a"], report.Resources["b"]
	if report.Status != apply.Error || a.Status != apply.Error || !strings.Contains(a.Reason, "changed since the plan") || b.Status != apply.Skipped {
		t.Errorf("%s: a %+v, b %+v", report.Status, a, b)
	}
}
