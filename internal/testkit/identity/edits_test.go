package identity_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/app/stateedit"
	"deployster/internal/base/diag"
	"deployster/internal/testkit/identity"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/reason"
)

// ours is the language of deployster.
func ours() dialect {
	return dialect{reference: "resource", config: "config", state: "state", block: func(name, meta, image, id, v string) string {
		return fmt.Sprintf("resource %q {\n  type = %q\n  %s\n  config = {\n    id = %s\n    v  = %s\n  }\n}\n", name, image, meta, id, v)
	}}
}

// files writes the parts of a manifest, by their paths.
func files(d dialect, parts []part, ending string) map[string]string {
	out := map[string]string{"main" + ending: ""}
	for _, p := range parts {
		path := "main" + ending
		if p.module != "" {
			path = p.module + "/" + path
		}
		out[path] += p.body(d)
	}
	return out
}

// result is what became of an edit.
type result struct {
	plan string // what the last plan showed
	done string // what was run
	end  string // what is there
}

// run carries out an edit.
func run(ctx context.Context, l *lab, e edit) (r result, err error) {
	manifests := [][]part{e.before, e.after}
	if e.then != nil {
		manifests = append(manifests, e.then)
	}
	for i, m := range manifests {
		if err := l.declare(files(ours(), m, ".hcl")); err != nil {
			return r, err
		}
		if i == 1 && e.forget != "" {
			if _, err := stateedit.NewEditor(l.engine().Workspace, false).Forget(ctx, []string{e.forget}); err != nil {
				return r, err
			}
		}
		if i > 0 && i < len(manifests) {
			l.take()
		}
		p, err := l.plan(ctx, plan.Selection{}, 1)
		if err != nil {
			r.plan, r.end = "error: "+diag.From("", err)[0].Summary, strings.Join(l.ids(), " ")
			return r, nil
		}
		if r.plan = shown(p); !p.HasChanges() {
			r.plan = "nothing to do"
		}
		report, err := l.apply(ctx, 1)
		if err != nil || report.Status != apply.OK {
			return r, fmt.Errorf("%s, %v, %v", report.Status, report.Problems, err)
		}
	}
	r.done, r.end = strings.Join(l.take(), ", "), strings.Join(l.ids(), " ")
	p, err := l.plan(ctx, plan.Selection{}, 1)
	if err == nil && p.HasChanges() {
		err = fmt.Errorf("the next plan is not empty: %s", shown(p))
	}
	return r, err
}

// shown gives the lines of a compact plan, without its colours, and without the
// notes of steps: those have places of this run in them.
func shown(p *plan.Plan) string {
	var lines []string
	noted := func(line string) bool {
		for _, s := range p.Resources {
			if slices.ContainsFunc(reason.Words(s.Notes), func(n string) bool { return strings.Contains(line, n) && strings.Contains(n, "is not destroyed") }) {
				return true
			}
		}
		return false
	}
	for line := range strings.Lines(plain(render.Plan(p, render.Options{Compact: true}))) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "What apply") || strings.HasPrefix(line, "Plan:") ||
			strings.HasPrefix(line, "Actions:") || noted(line) {
			continue
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	for _, addr := range p.Order() {
		if slices.ContainsFunc(reason.Words(p.Resources[addr].Notes), func(n string) bool {
			return strings.Contains(n, "is not "+
				"destroyed")
		}) {
			lines = append(lines, "the old thing of "+addr+" stays")
		}
	}
	return strings.Join(lines, "; ")
}

// plain takes out the marks of colours.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '\uf8e0' && r <= '\uf8ff' {
			return -1
		}
		return r
	}, text)
}

// TestEdits_LeaveExactlyTheDeclaredObjects applies a manifest, and then an edited one: what is declared is there in
// the end and nothing else, and the next plan is empty.
func TestEdits_LeaveExactlyTheDeclaredObjects(t *testing.T) {
	t.Parallel()
	for _, e := range edits() {
		t.Run(strings.ReplaceAll(e.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			l, err := newLab(t.TempDir(), identity.NewWorld())
			if err != nil {
				t.Fatal(err)
			}
			r, err := run(t.Context(), l, e)
			if err != nil {
				t.Fatalf("%v: %+v", err, r)
			}
			if e.refuse != "" && r.plan != "error: "+e.refuse || e.refuse == "" && strings.HasPrefix(r.plan, "error") {
				t.Errorf("planned %s, want %s", r.plan, e.refuse)
			}
			want := e.want
			if want == nil {
				want = declared(e.after)
			}
			if r.end != strings.Join(want, " ") {
				t.Errorf("there is %s, want %s", r.end, want)
			}
			t.Logf("%+v", r)
		})
	}
}

// declared lists the ids of the things that parts declare, sorted.
func declared(parts []part) []string {
	var ids []string
	d := dialect{reference: "resource", block: func(_, meta, _, id, _ string) string {
		source := id
		if strings.HasPrefix(meta, "for_each") {
			source = meta
		}
		for word := range strings.FieldsFuncSeq(source, func(r rune) bool { return r < '0' || r > '9' }) {
			ids = append(ids, word)
		}
		return ""
	}}
	for _, p := range parts {
		p.body(d)
	}
	slices.Sort(ids)
	return ids
}
