package identity_test

import (
	"fmt"
	"strings"
	"testing"

	"deployster/internal/testkit/identity"
	"deployster/plan"
)

// applied applies manifests one after the other, the last with a selection, and lists what
// the last one did.
func applied(t *testing.T, s plan.Selection, manifests ...string) string {
	t.Helper()
	l, err := newLab(t.TempDir(), identity.NewWorld())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range manifests {
		l.take()
		if err := l.declare(map[string]string{"main.hcl": m}); err != nil {
			t.Fatal(err)
		}
		var selected plan.Selection
		if i == len(manifests)-1 {
			selected = s
		}
		if _, err := l.plan(t.Context(), selected, 1); err != nil {
			return "error: " + err.Error()
		}
		if report, err := l.apply(t.Context(), 1); err != nil {
			t.Fatalf("%v: %+v", err, report)
		}
	}
	return strings.Join(l.take(), ", ")
}

// typed declares the type t with a setting.
func typed(setting string) string {
	return fmt.Sprintf("type \"t\" {\n  image = \"lab/id:1\"\n  %s\n}\n", setting)
}

// owned declares a resource of the type t.
func owned(name, meta string, id string, v int) string {
	return fmt.Sprintf("resource %q {\n  type = type.t\n  %s\n  config = { id = %s, v = %d }\n}\n", name, meta, id, v)
}

// Another env or network destroys nothing that is declared, whatever else is edited with it.
func TestSurroundings_DestroyNothing(t *testing.T) {
	t.Parallel()
	one, two, none := typed(`env = { TOKEN = "one" }`), typed(`env = { TOKEN = "two" }`), typed(`network = "none"`)
	for name, test := range map[string]struct{ before, after, want string }{
		"an element out of a list": {one + owned("s", "count = 3", "count.index + 1", 1), two + owned("s", "count = 2", "count.index + 2", 1), "remove 1"},
		"two exchange their names": {typed("") + owned("a", "", "1", 1) + owned("b", "", "2", 1), none + owned("a", "", "2", 1) + owned("b", "", "1", 1), ""},
		"a rename and a change":    {one + owned("a", "", "1", 1), two + owned("b", "", "1", 2), "change 1"},
		"a rename, must be new":    {one + owned("a", "", "1", 1), two + owned("b", "lifecycle {\n    adopt = false\n  }", "1", 2), "change 1"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			if got := applied(t, plan.Selection{}, test.before, test.after); got != test.want {
				t.Errorf("done: %s, want %s", got, test.want)
			}
		})
	}
}
