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
	const publish, put, store = "internal/app/artifacts/publish.go", "internal/app/artifacts/put.go", "internal/artifact/store"
	for _, c := range []struct {
		mutation.Fault
		where, test string
	}{
		{mutation.In("a put whose end is not known is not done again", publish, "case f.repeatable(t, put.Info):", "case true:"), "internal/app/artifacts", "TestPublish_IsDecidedByWhatIsRecorded"},
		{mutation.In("a put that ended well is not done again", publish, "case last.Exit != nil && put.Answer != nil:", "case false:"), "internal/app/artifacts", "TestPublish_IsDecidedByWhatIsRecorded"},
		{mutation.In("another password publishes nothing", publish, `hidden = append(hidden, "/source"+pointer)`, `hidden = nil; _ = pointer`), "internal/app/artifacts", "TestPublish_IsDecidedByWhatIsRecorded"},
		{mutation.In("what is put is on record before", put, "record := state.Put{Config: in.Config, Sensitive: f.sensitive(r), Info: info}\n\tif err := journal.Put(t.Address, record); err != nil {", "record := state.Put{Config: in.Config, Sensitive: f.sensitive(r), Info: info}\n\tif false {"), "internal/app/artifacts", "TestPublish_IsOnRecordBeforeItBegins"},
		{mutation.In("what a put said is on record", put, "if len(p.Created)+len(p.Deleted) > 0 {", "if false {"), "internal/app/artifacts", "TestPublish_IsOnRecordBeforeItBegins"},
		{mutation.In("files of other params are others", "internal/artifact/recipe.go", `json:"params"`, `json:"-"`), "internal/artifact", "TestRecipe_KeyIsOfEverything"},
		{mutation.In("files are on the disk before they have their name", store+"/entry.go", "if err := syncAll(draft); err != nil {", "if err := error(nil); err != nil {"), store, "TestStore_IsOnTheDiskBeforeItHasItsName"},
	} {
		tests := mutation.Tests{Package: c.where, Run: "^" + c.test + "$", Flags: []string{"-test.timeout", "120s"}, Sign: c.test}
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) { tests.See(t, c.Fault) })
	}
}
