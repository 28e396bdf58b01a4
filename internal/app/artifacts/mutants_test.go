//go:build mutants

package artifacts

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// What keeps a put from being done twice, or lost, and files from being the wrong ones:
// each is taken out, and its test must fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, c := range []struct {
		mutation.Fault
		where, test string
	}{
		{mutation.In("a put whose end is not known is not done again", "internal/app/artifacts/publish.go", "case f.repeatable(t, put.Info):", "case true:"), "internal/app/artifacts", "TestPublish_IsDecidedByWhatIsRecorded"},
		{mutation.In("a put that ended well is not done again", "internal/app/artifacts/publish.go", "case last.Exit != nil && put.Answer != nil:", "case false:"), "internal/app/artifacts", "TestPublish_IsDecidedByWhatIsRecorded"},
		{mutation.In("another password publishes nothing", "internal/app/artifacts/publish.go", `hidden = append(hidden, "/source"+pointer)`, `hidden = nil; _ = pointer`), "internal/app/artifacts", "TestPublish_IsDecidedByWhatIsRecorded"},
		{mutation.In("what is put is on record before", "internal/app/artifacts/put.go", "record := state.Put{Config: in.Config, Sensitive: f.sensitive(r), Info: info}\n\tif err := journal.Put(t.Address, record); err != nil {", "record := state.Put{Config: in.Config, Sensitive: f.sensitive(r), Info: info}\n\tif false {"), "internal/app/artifacts", "TestPublish_IsOnRecordBeforeItBegins"},
		{mutation.In("what a put said is on record", "internal/app/artifacts/put.go", "if len(p.Created)+len(p.Deleted) > 0 {", "if false {"), "internal/app/artifacts", "TestPublish_IsOnRecordBeforeItBegins"},
		{mutation.In("files of other params are others", "internal/artifact/recipe.go", `json:"params"`, `json:"-"`), "internal/artifact", "TestRecipe_KeyIsOfEverything"},
		{mutation.In("files are on the disk before they have their name", "internal/artifact/store/entry.go", "if err := syncAll(draft); err != nil {", "if err := error(nil); err != nil {"), "internal/artifact/store", "TestStore_IsOnTheDiskBeforeItHasItsName"},
	} {
		tests := mutation.Tests{Package: c.where, Run: "^" + c.test + "$", Flags: []string{"-test.timeout", "120s"}, Sign: c.test}
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) { tests.See(t, c.Fault) })
	}
}
