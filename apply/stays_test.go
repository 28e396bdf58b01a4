package apply_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/plan/reason"
)

// What its type cannot remove stays when a resource means another thing, whichever
// version of the type is there by now; the plan says so.
func TestAnotherObject_OfATypeThatRemovesNothing(t *testing.T) {
	t.Parallel()
	keeps := func(e *engine) func(context.Context, runner.Spec, io.Reader, io.Writer, io.Writer) int {
		return func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
			if len(s.Args) > 0 {
				return e.known(ctx, s, stdin, stdout, stderr)
			}
			_, _ = io.WriteString(stdout, `{"protocol":2,"kind":"thing","identity":["/id"],"state_action":{"args":["state"]},
"config_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"v":{}}}}`)
			return 0
		}
	}
	for name, then := range map[string]string{"the same version": "test/keeps:1", "another version": "test/keeps:2", "another image": "mirror/keeps:1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.fake.Add("test/keeps:1", keeps(e))
			e.fake.Add("test/keeps:2", keeps(e))
			e.fake.Add("mirror/keeps:1", keeps(e))
			of := func(ty, id string) string {
				return fmt.Sprintf("resource \"a\" {\n  type = %q\n  config = {\n    id = %q\n  }\n}\n", ty, id)
			}
			e.do(t, of("test/keeps:1", "x"))
			p, err := e.plan(of(then, "y"))
			if err != nil {
				t.Fatal(err)
			}
			if notes := strings.Join(reason.Words(p.Resources["a"].Notes), " "); !strings.Contains(notes, "its type cannot remove "+
				"objects") || !strings.Contains(notes, `/id "x" -> "y"`) {
				t.Errorf("notes %q", notes)
			}
			if report, err := e.apply(t.Context(), p); err != nil || len(report.Problems) > 0 || e.there() != "x y" {
				t.Errorf("%v %v, there is %q", err, summaries(report.Problems), e.there())
			}
		})
	}
}

// A mirror of a repository has the same things, also those that a default of the schema
// names: a block that is renamed at once destroys none.
func TestIdentity_DefaultsOfAMirror(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	regional := func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) > 0 {
			return e.known(ctx, s, stdin, stdout, stderr)
		}
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"identity":["/id","/region"],"state_action":{"args":["state"]},
"config_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"region":{"type":"string","default":"eu"},"v":{}}}}`)
		return 0
	}
	e.fake.Add("test/regional:1", regional)
	e.fake.Add("mirror/regional:1", regional)
	of := func(ty, name string) string {
		return fmt.Sprintf("resource %q {\n  type = %q\n  config = {\n    id = \"x\"\n  }\n}\n", name, ty)
	}
	e.do(t, of("test/regional:1", "b"))
	e.world.TakeLog()
	p, err := e.plan(of("mirror/regional:1", "a"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || len(report.Problems) > 0 || e.there() != "x" || e.done() != "" {
		t.Errorf("%v %v, there is %q: %s", err, summaries(report.Problems), e.there(), encode(p.Resources))
	}
}
