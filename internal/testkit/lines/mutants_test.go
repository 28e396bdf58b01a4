//go:build mutants

package lines

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen puts faults into the tool, one after the other, and wants the
// histories to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/testkit/lines", Run: "^TestHistories$", Sign: "seed "}
	for _, m := range []mutation.Fault{
		mutation.In("puts again what may not be repeated", "internal/app/artifacts/publish.go", "case f.repeatable(t, put.Info):", "case true:"),
		mutation.In("uses a version that is gone", "internal/app/artifacts/front.go", "if err == nil && !listed {", "if err == nil && !listed && false {"),
		mutation.In("puts again what ended well", "internal/app/artifacts/publish.go", "case last.Exit != nil && put.Answer != nil:", "case false:"),
		mutation.In("what a put said is not on record", "internal/app/artifacts/put.go", "if len(p.Created)+len(p.Deleted) > 0 {", "if false {"),
		mutation.In("a put that was not begun hides the one before", "state/actions/unsettled.go", "if u.Was != nil && u.Was.Put != nil && (u.Put == nil || u.Put.NotBegun) {", "if false {"),
		mutation.In("a put that died before it began hides the one before", "state/actions/changes.go", "case u.Was != nil:", "case false:"),
		mutation.In("files of one version are those of all", "internal/runtime/artifact/recipe.go", `json:"version"`, `json:"-"`),
	} {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
