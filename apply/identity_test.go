package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// known is the type of World.Program, which knows its things by the id in their
// config, and says so.
func (e *engine) known(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	return e.byID(ctx, s, stdin, stdout, stderr, `"identity":["/id"],`)
}

// older is the same type of a time when nobody could say that.
func (e *engine) older(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	return e.byID(ctx, s, stdin, stdout, stderr, "")
}

func (e *engine) byID(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer, says string) int {
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,`+says+`"state_action":{"args":["state"]},
"config_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"v":{}}}}`)
		return 0
	}
	var in protocol.ActionInput
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 90
	}
	var config struct{ ID string }
	if err := json.Unmarshal(in.Config, &config); err != nil {
		return 91
	}
	in.Name = config.ID
	named, err := json.Marshal(in)
	if err != nil {
		return 92
	}
	return e.world.Program(ctx, s, bytes.NewReader(named), stdout, stderr)
}

// TestIdentity_TheSecondManifestIsInPlace applies two manifests, one after the other: what is declared in the
// second is there then, and what was done is what was wanted.
func TestIdentity_TheSecondManifestIsInPlace(t *testing.T) {
	t.Parallel()
	one := func(name, id, more string) string {
		return fmt.Sprintf("resource %q {\n  type = \"test/known:1\"\n%s\n  config = {\n    id = %q\n  }\n}\n", name, more, id)
	}
	count := func(ids string) string {
		return fmt.Sprintf("locals {\n  ids = [%s]\n}\nresource \"s\" {\n  type = \"test/known:1\"\n  count = length(local.ids)\n  config = {\n    id = local.ids[count.index]\n  }\n}\n", ids)
	}
	drifts := func(name, id, list string) string {
		return one(name, id, "lifecycle {\n    ignore_changes = "+list+"\n  }")
	}
	for name, c := range map[string]struct {
		first, then string
		things      string // what is there in the end
		done, moves string
		fails       string
	}{
		"a block is renamed":       {one("hello", "x", ""), one("greeting", "x", ""), "x", "", "hello>greeting identity", ""},
		"an element is dropped":    {count(`"a", "b", "c"`), count(`"b", "c"`), "b c", "remove a", "s[0]>s[0] (deposed 1) other s[1]>s[0] identity s[2]>s[1] identity", ""},
		"two exchange their names": {one("a", "x", "") + one("b", "y", ""), one("a", "y", "") + one("b", "x", ""), "x y", "", "a>b identity b>a identity", ""},
		"another id":               {one("d", "d1", ""), one("d", "d2", ""), "d2", "remove d1 make d2", "", ""},
		"another id, protected": {one("d", "d1", "lifecycle {\n    prevent_destroy = true\n  }"), one("d", "d2", ""), "d1", "", "",
			"Protected resource would be replaced"},
		"another id, to be forgotten":  {one("d", "d1", "lifecycle {\n    on_remove = \"forget\"\n  }"), one("d", "d2", ""), "d1 d2", "make d2", "", ""},
		"another id, which is ignored": {one("d", "d1", ""), one("d", "d2", "lifecycle {\n    ignore_changes = [id]\n  }"), "d1", "", "", ""},
		"an ignored id, renamed":       {drifts("d", "d1", "[id]"), drifts("e", "d2", "[id]"), "d1", "", "d>e identity", ""},
		"all ignored, renamed":         {drifts("d", "d1", "all"), drifts("e", "d2", "all"), "d1", "", "d>e identity", ""},
		"an ignored id, and a removed block": {drifts("d", "d1", "[id]"), drifts("e", "d2", "[id]") + "removed {\n  from = resource.d\n  lifecycle {\n    destroy = false\n  }\n}\n",
			"d1 d2", "make d2", "", ""},
		"an ignored id, and another takes its thing": {drifts("a", "a1", "[id]"), drifts("b", "b1", "[id]") + one("c", "a1", ""), "a1 b1", "make b1", "a>c identity", ""},
		"two blocks for one thing":                   {"", one("a", "x", "") + one("b", "x", ""), "", "", "", "Duplicate object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.fake.Add("test/known:1", e.known)
			if c.first != "" {
				e.do(t, c.first)
			}
			e.world.TakeLog()
			p, err := e.plan(c.then)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("planned, or failed otherwise: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var moves []string
			for _, m := range p.Moves {
				moves = append(moves, m.From+">"+m.To+" "+m.Why)
			}
			if got := strings.Join(moves, " "); got != c.moves {
				t.Errorf("moves %q, want %q", got, c.moves)
			}
			report, err := e.apply(t.Context(), p)
			if err != nil || len(report.Problems) > 0 {
				t.Fatalf("%v %v", err, summaries(report.Problems))
			}
			if got := strings.Join(e.world.TakeLog(), " "); got != c.done {
				t.Errorf("done %q, want %q", got, c.done)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(e.world.Things())), " "); got != c.things {
				t.Errorf("things %q, want %q", got, c.things)
			}
			if rest, err := e.plan(c.then); err != nil || rest.HasChanges() {
				t.Errorf("something is left to do: %+v, %v", rest, err)
			}
		})
	}
}

// What was never VALID is not what ignore_changes keeps: it goes to no other address for that.
func TestIdentity_IgnoredOfWhatFailed(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.fake.Add("test/known:1", e.known)
	block := func(name, id string) string {
		return fmt.Sprintf("resource %q {\n  type = \"test/known:1\"\n  lifecycle {\n    ignore_changes = [id]\n  }\n  config = {\n    id = %q\n  }\n}\n", name, id)
	}
	e.world.Fail("d1", true)
	e.do(t, block("d", "d1"))
	if d := e.recorded(t).Resources["d"]; !d.Incomplete() {
		t.Fatalf("not what is tested: %+v", d)
	}
	e.world.Fail("d1", false)
	if report := e.do(t, block("e", "d2")); len(report.Problems) > 0 {
		t.Fatal(summaries(report.Problems))
	}
	if things := e.world.Things(); len(things) != 1 || things["d2"] == "" {
		t.Errorf("things %v", things)
	}
}
