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
		{mutation.In("what is put is on record before", "internal/app/artifacts/put.go", "record := actions.Put{Config: in.Config, Sensitive: f.sensitive(r), Info: info}\n\tif err := journal.Put(t.Address, record); err != nil {", "record := actions.Put{Config: in.Config, Sensitive: f.sensitive(r), Info: info}\n\tif false {"), "internal/app/artifacts", "TestPublish_IsOnRecordBeforeItBegins"},
		{mutation.In("what a put said is on record", "internal/app/artifacts/put.go", "if len(p.Created)+len(p.Deleted) > 0 {", "if false {"), "internal/app/artifacts", "TestPublish_IsOnRecordBeforeItBegins"},
		{mutation.In("files of other params are others", "internal/runtime/artifact/recipe.go", `json:"params"`, `json:"-"`), "internal/runtime/artifact", "TestRecipe_KeyIsOfEverything"},
		{mutation.In("files are on the disk before they have their name", "internal/runtime/artifact/store/entry.go", "if err := syncAll(draft); err != nil {", "if err := error(nil); err != nil {"), "internal/runtime/artifact/store", "TestStore_IsOnTheDiskBeforeItHasItsName"},
		{mutation.In("a put has the key of its action", "internal/app/artifacts/put.go", "artifact.PutInput{ID: in.IdempotencyKey,", `artifact.PutInput{ID: "x",`), "internal/app/artifacts", "TestPublish_HasTheKeyOfItsAction"},
		{mutation.In("inputs are here before anything is run", "internal/app/artifacts/front.go", "if r := f.publishes[addr]; r != nil && step.Change != plan.Valid {", "if r := f.publishes[addr]; r != nil && false {"), "internal/app/artifacts", "TestPrefetch_FetchesInputsOfPublishes"},
		{mutation.In("a put that only deletes leaves the version", "internal/app/artifacts/put.go", "out.Space, out.Version, out.Metadata = before.Space, before.Version, before.Metadata", "out.Space = before.Space"), "internal/app/artifacts", "TestPublish_OnlyDeletes"},
		{mutation.In("two commands fetch once", "internal/runtime/artifact/store/store.go", "if _, err := s.read(key); err == nil {\n\t\treturn false, nil\n\t}", ""), "internal/runtime/artifact/store", "TestStore_LooksAgainUnderTheLock"},
		{mutation.In("an entry is of its key", "internal/runtime/artifact/store/entry.go", "m.Format != metaFormat || m.Key != key", "false"), "internal/runtime/artifact/store", "TestStore_ReadsWhatIsOfTheKey"},
		{mutation.In("a draft of a living command stays", "internal/runtime/artifact/store/prune.go", "if errs = append(errs, err); lock != nil {", "if errs = append(errs, err); lock == nil {\n\t\t\terrs = append(errs, os.RemoveAll(filepath.Join(s.o.Dir, e.Name())))\n\t\t} else {"), "internal/runtime/artifact/store", "TestStore_SweepsDrafts"},
	} {
		tests := mutation.Tests{Package: c.where, Run: "^" + c.test + "$", Flags: []string{"-test.timeout", "120s"}, Sign: c.test}
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) { tests.See(t, c.Fault) })
	}
}
