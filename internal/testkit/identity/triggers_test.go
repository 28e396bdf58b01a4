package identity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/diag"
	"deployster/internal/testkit/identity"
	"deployster/plan"
)

// triggersResults is what `make edits` has measured of triggers: a row for each.
const triggersResults = "testdata/triggers.json"

// trigger is a change of manifests in which something replaces by replace_triggered_by.
type trigger struct {
	name          string
	before, after []part
	want          string // what is replaced here
	differs       string // why terraform replaces other than that; "" = it does not
}

// by is a lifecycle that names resources and values of them: a, a.config.v, a.state.v.
func by(d dialect, rest string, list ...string) string {
	var refs []string
	for _, what := range list {
		what = strings.NewReplacer(".config", "."+d.config, ".state", "."+d.state).Replace(what)
		refs = append(refs, d.ref("", what))
	}
	return "lifecycle {\n    replace_triggered_by = [" + strings.Join(refs, ", ") + "]\n    " + rest + "\n  }"
}

// on declares thing 9, which is replaced by what it names.
func on(list ...string) part { return onWith("b", "9", "", "", list...) }

func onWith(name, id, meta, lifecycle string, list ...string) part {
	return part{body: func(d dialect) string {
		return d.block(name, meta+"\n  "+by(d, lifecycle, list...), "lab/id:1", id, "1")
	}}
}

// valued declares a thing with a value.
func valued(name string, id int, v string) part {
	return block(name, "", "lab/id:1", fmt.Sprint(id), v)
}

// listed declares a thing for each of the values, with count.
func listed(ids, values []int) part {
	return block("s", fmt.Sprintf("count = %d", len(ids)), "lab/id:1", tuple(ids)+"[count.index]", tuple(values)+"[count.index]")
}

// mapped declares things x and y, with for_each.
func mapped(x, y int) part {
	return block("m", "for_each = { x = 1, y = 2 }", "lab/id:1", "each.value", fmt.Sprintf("{ x = %d, y = %d }[each.key]", x, y))
}

const later = "its type does not say that it will be another: it is expected to stay; `terraform_data` says that all of it is unknown"

func triggers() []trigger {
	a, updated, replaced := one("a", 1), changed("a", 1), one("a", 2)
	b := one("b", 9)
	two := onWith("b", "9 + count.index", "count = 2", "", "s[count.index]")
	return []trigger{
		{name: "nothing changes", before: parts(a, on("a")), after: parts(a, on("a"))},
		{name: "the trigger itself is new", before: parts(a, b), after: parts(a, on("a"))},
		{name: "a resource is updated", before: parts(a, on("a")), after: parts(updated, on("a")), want: "b"},
		{name: "a resource is replaced", before: parts(a, on("a")), after: parts(replaced, on("a")), want: "a b"},
		{name: "a resource is created", before: parts(b), after: parts(a, on("a"))},
		{name: "a resource is removed and another one stays", before: parts(a, one("c", 3), on("c")), after: parts(one("c", 3), on("c"))},
		{name: "what is triggered is created", before: parts(a), after: parts(updated, on("a"))},
		{name: "what is triggered is replaced itself", before: parts(a, on("a")), after: parts(updated, onWith("b", "8", "", "", "a")), want: "b"},
		{name: "what is triggered is updated itself", before: parts(a, on("a")),
			after: parts(updated, part{body: func(d dialect) string { return d.block("b", by(d, "", "a"), "lab/id:1", "9", "2") }}), want: "b"},
		{name: "one of two is updated", before: parts(a, one("c", 3), on("a", "c")), after: parts(a, changed("c", 3), on("a", "c")), want: "b"},
		{name: "a value of a config changes", before: parts(a, on("a.config.v")), after: parts(updated, on("a.config.v")), want: "b"},
		{name: "another value of the config changes", before: parts(a, on("a.config.id")), after: parts(updated, on("a.config.id"))},
		{name: "the whole config", before: parts(a, on("a.config")), after: parts(updated, on("a.config")), want: "b"},
		{name: "a value of the config of what is created", before: parts(b), after: parts(a, on("a.config.v"))},
		{name: "a value of the config of what is replaced, that changes", before: parts(a, on("a.config.id")), after: parts(replaced, on("a.config.id")), want: "a b"},
		{name: "a value of the config of what is replaced, that stays", before: parts(a, on("a.config.v")), after: parts(replaced, on("a.config.v")), want: "a"},
		{name: "a state of what is updated", before: parts(a, on("a.state")), after: parts(updated, on("a.state")), differs: later},
		{name: "a value of the state of what is updated", before: parts(a, on("a.state.v")), after: parts(updated, on("a.state.v")), differs: later},
		{name: "a value of the state of what is replaced", before: parts(a, on("a.state.v")), after: parts(replaced, on("a.state.v")), want: "a b"},
		{name: "a value of the state of what is created", before: parts(b), after: parts(a, on("a.state.v"))},
		{name: "an instance of `count` is updated", before: parts(listed([]int{1, 2}, []int{1, 1}), two),
			after: parts(listed([]int{1, 2}, []int{1, 2}), two), want: "b[1]"},
		{name: "all instances of `count`, of which one is updated", before: parts(listed([]int{1, 2}, []int{1, 1}), on("s")),
			after: parts(listed([]int{1, 2}, []int{1, 2}), on("s")), want: "b"},
		{name: "all instances of `count`, and one is added", before: parts(listed([]int{1, 2}, []int{1, 1}), on("s")),
			after: parts(listed([]int{1, 2, 3}, []int{1, 1, 1}), on("s"))},
		{name: "all instances of `count`, and the last is removed", before: parts(listed([]int{1, 2}, []int{1, 1}), on("s")),
			after: parts(listed([]int{1}, []int{1}), on("s"))},
		{name: "an instance of `for_each` is updated", before: parts(mapped(1, 1), on(`m["y"]`)), after: parts(mapped(1, 2), on(`m["y"]`)), want: "b"},
		{name: "another instance of `for_each` is updated", before: parts(mapped(1, 1), on(`m["x"]`)), after: parts(mapped(1, 2), on(`m["x"]`))},
		{name: "a value of an instance of `for_each`", before: parts(mapped(1, 1), on(`m["y"].config.v`)),
			after: parts(mapped(1, 2), on(`m["y"].config.v`)), want: "b"},
		{name: "a sensitive value changes", before: parts(valued("a", 1, "sensitive(1)"), on("a.config.v")),
			after: parts(valued("a", 1, "sensitive(2)"), on("a.config.v")), want: "b"},
		{name: "a resource with a sensitive value is updated", before: parts(valued("a", 1, "sensitive(1)"), on("a")),
			after: parts(valued("a", 1, "sensitive(2)"), on("a")), want: "b"},
		{name: "a value becomes sensitive", before: parts(a, on("a.config.v")), after: parts(valued("a", 1, "sensitive(1)"), on("a.config.v")),
			differs: "it is the same value"},
		{name: "one triggers the next", before: parts(a, on("a"), onWith("c", "7", "", "", "b")),
			after: parts(updated, on("a"), onWith("c", "7", "", "", "b")), want: "b c"},
		{name: "a resource gets another address", before: parts(a, on("a")), after: parts(one("n", 1), moved("", "a", "", "n"), on("n"))},
		{name: "what is triggered gets another address", before: parts(a, on("a")),
			after: parts(updated, moved("", "b", "", "n"), onWith("n", "9", "", "", "a")), want: "n"},
		{name: "what is triggered is protected", before: parts(a, onWith("b", "9", "", "prevent_destroy = true", "a")),
			after: parts(updated, onWith("b", "9", "", "prevent_destroy = true", "a")), want: "error: Protected resource would be replaced"},
		{name: "what is triggered has create_before_destroy", before: parts(a, onWith("b", "9", "", "create_before_destroy = true", "a")),
			after: parts(updated, onWith("b", "9", "", "create_before_destroy = true", "a")), want: "error: The new object cannot " +
				"be created first",
			differs: "one thing cannot be there twice"},
	}
}

// TestTriggers_LikeTerraform plans what changes in the rows, and wants that what is named
// in replace_triggered_by replaces what terraform would, but where the row says why not.
func TestTriggers_LikeTerraform(t *testing.T) {
	t.Parallel()
	if *terraform != "" {
		measureTriggers(t)
	}
	text, err := os.ReadFile(triggersResults)
	theirs := map[string]string{}
	if err == nil {
		err = json.Unmarshal(text, &theirs)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(theirs) != len(triggers()) {
		t.Errorf("%d rows were measured, and there are %d", len(theirs), len(triggers()))
	}
	for _, row := range triggers() {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			l, err := newLab(t.TempDir(), identity.NewWorld())
			if err != nil {
				t.Fatal(err)
			}
			if got, err := planned(t.Context(), l, row); err != nil || got != row.want {
				t.Errorf("replaces %q, want %q (%v)", got, row.want, err)
			}
			measured, known := theirs[row.name]
			if same := measured == row.want || strings.HasPrefix(measured, "error") && strings.HasPrefix(row.want, "error"); !known || same == (row.differs != "") {
				t.Errorf("terraform replaces %q, here %q: %s", measured, row.want, row.differs)
			}
		})
	}
}

// planned applies the first manifest, and gives what the plan of the second replaces.
func planned(ctx context.Context, l *lab, row trigger) (string, error) {
	for i, m := range [][]part{row.before, row.after} {
		if err := l.declare(files(ours(), m, ".hcl")); err != nil {
			return "", err
		}
		p, err := l.plan(ctx, plan.Selection{}, 1)
		if err != nil {
			return "error: " + diag.From("", err)[0].Summary, nil
		}
		if i == 1 {
			var list []string
			for addr, step := range p.Resources {
				if step.Change() == plan.Replace {
					list = append(list, addr)
				}
			}
			slices.Sort(list)
			return strings.Join(list, " "), nil
		}
		if _, err := l.apply(ctx, 1); err != nil {
			return "", err
		}
	}
	return "", nil
}

// measureTriggers asks terraform for the same plans, and writes down what it replaces.
func measureTriggers(t *testing.T) {
	t.Helper()
	all := map[string]string{}
	for _, row := range triggers() {
		dir := t.TempDir()
		err := rewrite(dir, row.before)
		if err == nil {
			_, err = command(dir, "init", "-no-color")
		}
		if err == nil {
			_, err = command(dir, "apply", "-no-color", "-input=false", "-auto-approve")
		}
		if err == nil {
			err = rewrite(dir, row.after)
		}
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if all[row.name], err = replacements(dir); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err == nil {
		err = os.WriteFile(triggersResults, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// replacements lists what a plan of terraform replaces.
func replacements(dir string) (string, error) {
	out, err := command(dir, "plan", "-no-color", "-input=false", "-out="+filepath.Join(dir, "p"))
	if err != nil {
		return counts(out), nil
	}
	var shown struct {
		Changes []struct {
			Address string
			Change  struct{ Actions []string }
		} `json:"resource_changes"`
	}
	if out, err = command(dir, "show", "-json", "p"); err != nil {
		return "", errors.New(out)
	}
	if err := json.Unmarshal([]byte(out[max(0, strings.IndexByte(out, '{')):]), &shown); err != nil {
		return "", err
	}
	var list []string
	for _, c := range shown.Changes {
		if len(c.Change.Actions) == 2 {
			list = append(list, strings.TrimPrefix(c.Address, "terraform_data."))
		}
	}
	slices.Sort(list)
	return strings.Join(list, " "), nil
}
