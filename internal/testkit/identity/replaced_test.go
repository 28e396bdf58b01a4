package identity_test

import (
	"fmt"
	"strings"
	"testing"

	"deployster/internal/testkit/identity"
	"deployster/plan"
	"deployster/plan/reason"
)

// res declares a resource.
func res(name string, id, v int, rest string) string {
	return fmt.Sprintf("resource %q {\n  type = \"lab/id:1\"\n  config = { id = %d, v = %d }\n  %s\n}\n", name, id, v, rest)
}

func lifecycle(rest string) string { return "lifecycle {\n    " + rest + "\n  }" }

// create_before_destroy is passed on, so what it is passed on to is not destroyed first.
func TestReplace_KeepsWhatIsPassedOn(t *testing.T) {
	t.Parallel()
	m := res("a", 1, 1, "") + res("z", 2, 1, "depends_on = [resource.a]\n  "+lifecycle("create_before_destroy = true"))
	got := applied(t, plan.Selection{Replace: []string{"a"}}, m, m)
	if !strings.Contains(got, "cannot be created first") {
		t.Error(got)
	}
}

// What is moved is not destroyed: -replace of its old address says what it is called now.
func TestReplace_OfWhatIsMoved(t *testing.T) {
	t.Parallel()
	got := applied(t, plan.Selection{Replace: []string{"a"}}, res("a", 1, 1, ""), res("b", 1, 1, ""))
	if !strings.Contains(got, "-replace=a is moved") || !strings.Contains(got, "use -replace=b.") {
		t.Error(got)
	}
	if got = applied(t, plan.Selection{Replace: []string{"a"}}, res("a", 1, 1, ""), res("b", 2, 1, "")); !strings.Contains(got, "is not declared") {
		t.Error(got)
	}
}

// To forget destroys nothing, so prevent_destroy says nothing against it.
func TestForget_IsNotADestruction(t *testing.T) {
	t.Parallel()
	kept := res("a", 1, 1, lifecycle("on_remove = \"forget\"\n    prevent_destroy = true"))
	if got := applied(t, plan.Selection{}, kept, "", ""); got != "" {
		t.Error(got)
	}
	another := strings.Replace(kept, "id = 1", "id = 2", 1)
	if got := applied(t, plan.Selection{}, kept, another); got != "make 2" {
		t.Error(got)
	}
}

// The note says what becomes of the old one.
func TestCreateFirst_ReportsThatItIsForgotten(t *testing.T) {
	t.Parallel()
	l, err := newLab(t.TempDir(), identity.NewWorld())
	if err != nil {
		t.Fatal(err)
	}
	rest := lifecycle("on_remove = \"forget\"\n    create_before_destroy = true")
	var p *plan.Plan
	for id := 1; id < 3; id++ {
		if err = l.declare(map[string]string{"main.hcl": res("a", id, 1, rest)}); err != nil {
			t.Fatal(err)
		}
		if p, err = l.plan(t.Context(), plan.Selection{}, 1); err != nil {
			t.Fatal(err)
		}
		if id == 1 {
			if _, err = l.apply(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if notes := strings.Join(reason.Words(p.Resources["a"].Notes), " "); !strings.Contains(notes, "(deposed 1) is forgotten, which") {
		t.Error(notes)
	}
}
