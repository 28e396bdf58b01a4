//go:build linux && amd64 && mutants

package crash_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// seen is a fault in the tool, and the test that must see it.
type seen struct {
	mutation.Fault
	pkg, test string // the directory of the test, from that of the module
}

func mutants() []seen {
	const here = "internal/testkit/crash"
	return []seen{
		{mutation.In("the journal is not synced", "internal/base/durable/log.go", "err = l.o.sync(l.f)\n", "err = nil\n"), here, "TestPowerCut"},
		{mutation.In("the state file is not synced", "internal/base/durable/write.go", "err = o.sync(f)", "err = nil"), here, "TestPowerCut"},
		{mutation.In("directories are not synced", "internal/base/durable/ops.go", "err := d.Sync(); err != nil", "err := error(nil); err != nil"), here, "TestFiles_NamesAreSynced"},
		{mutation.In("acts before the intent is on record", "apply/step.go", "err := r.journal.ActionStarted(start); err != nil", "_, err := start, error(nil); err != nil"), here, "TestEngine_KilledAtEachCall/all_kinds_at_1"},
		{mutation.In("writes in place", "internal/base/durable/write.go", `f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")`, `f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)`), here, "TestEngine_KilledAtEachCall/all_kinds_at_1"},
		{mutation.In("removes the journal before the state is written", "state/journal.go", "noCopy := j.store.at.save(next)", "_ = j.store.at.removeJournal()\n\tnoCopy := j.store.at.save(next)"), here, "TestEngine_KilledAtEachCall/all_kinds_at_1"},
		{mutation.In("says nothing of what was in flight", "state/replay.go", "InFlight: run.inFlight, Unconfirmed", "InFlight: nil, Unconfirmed"), here, "TestEngine_KilledAtEachCall/all_kinds_at_1"},
		{mutation.In("forgets that a resource was acted on", "state/replay.go", "e.Dirty, e.Acted = true, p.snapshot.Serial;", "e.Dirty, e.Acted = true, e.Acted;"), here, "TestRepair_KilledAtEachCall"},
		{mutation.In("gives the address to the new thing in no record", "state/replay.go", "p.snapshot, p.moved = moved, true", "_, p.moved = moved, true"), here, "TestEngine_KilledAtEachCall/made_first_at_1"},
		{mutation.In("destroys the old thing first", "plan/createfirst.go", "Edge{From: addr, To: key,", "Edge{From: key, To: addr,"), here, "TestEngine_KilledAtEachCall/made_first_at_1"},
		{mutation.In("destroys what is that of another, after the new one", "plan/createfirst.go", "p.Owner != \"\" || ", ""), "apply", "TestCreateFirst/another_one_looks_at_it"},
		{mutation.In("forgets what is deposed in the file", "state/deposed.go", "e.Deposed = append(e.Deposed, Deposed{Number: number, Entry: deposed})\n\t\te.sortDeposed()", "_ = deposed\n\t\te.sortDeposed()"), here, "TestRecovery_KilledAtEachCall/pairs/made_first_0"},
		{mutation.In("leaves what is to be replaced for the next plan", "plan/ends.go", "if b.identified.result.Pair(addr).Why != match.Other {", "if false {"), "apply", "TestEnds_CannotWaitForWhatIsToBeReplaced"},
		{mutation.In("takes a late identity for another because it is made first", "plan/ends.go", "node.CreateFirst = true //", "node.Of, node.CreateFirst = addr, true //"), "apply", "TestLateIdentity_OfWhatIsOnlyLookedAt"},
		{mutation.In("takes a failed fsync for a good one", "internal/base/durable/log.go", "err = l.o.sync(l.f)\n", "_ = l.o.sync(l.f)\n"), here, "TestEngine_DiskFaultAtEachCall/input/output_error_all_kinds"},
		{mutation.In("tries a failed fsync again", "internal/base/durable/log.go", "err = l.o.sync(l.f)\n", "if err = l.o.sync(l.f); err != nil {\n\t\t\terr = l.o.sync(l.f)\n\t\t}\n"), here, "TestEngine_DiskFaultAtEachCall/input/output_error_all_kinds"},
		{mutation.In("swallows a failed write of the state file", "state/journal.go", "if noCopy != nil && !errors.Is(noCopy, ErrNoCopy) {\n\t\treturn noCopy", "if noCopy != nil && !errors.Is(noCopy, ErrNoCopy) {\n\t\treturn nil"), here, "TestEngine_DiskFaultAtEachCall/no_space_left_on_device_all_kinds"},
		{mutation.In("takes the loss of the server for the exit code 255", "containerd/program.go", "\t\t\tif !errdefs.IsUnavailable(err) || ctx.Err() != nil {", "\t\t\tif errdefs.IsUnavailable(err) {\n\t\t\t\tend <- exit{code: 255}\n\t\t\t\treturn\n\t\t\t}\n\t\t\tif !errdefs.IsUnavailable(err) || ctx.Err() != nil {"), "containerd", "TestServer_IsKilled/embedded"},
		{mutation.In("puts before the intent is on record", "internal/app/artifacts/put.go", "if err := journal.Put(t.Address, record); err != nil {\n\t\treturn runner.Result{}, err", "if err := error(nil); err != nil {\n\t\treturn runner.Result{}, err"), here, "TestPublish_KilledAtEachCall/v1"},
		{mutation.In("puts again in silence", "internal/app/artifacts/publish.go", "case f.repeatable(t, put.Info):", "case true:"), here, "TestPublish_KilledAtEachCall/v1"},
		{mutation.In("gives files their name before they are on the disk", "internal/runtime/artifact/store/entry.go", "if err := syncAll(draft); err != nil {", "if err := error(nil); err != nil {"), "internal/runtime/artifact/store", "TestStore_IsOnTheDiskBeforeItHasItsName"},
		{mutation.In("keeps files without a look at the params", "internal/runtime/artifact/recipe.go", `json:"params"`, `json:"-"`), "internal/runtime/artifact", "TestRecipe_KeyIsOfEverything"},
		{mutation.In("reserves no room for what an action returns", "state/room/rooms.go", "return each + returns", "return each + 0*returns"), "state", "TestFullDisk_ReservesWhatActionsMayReturn/one_large_memory,_and_the_rest_is_full"},
		{mutation.In("lets other records take the room of actions", "state/journal.go", "if !r.ownRoom() {", "if false {"), "state", "TestFullDisk_OtherRecordsSpareTheRoomOfActions"},
		{mutation.In("does not wait for room", "state/room/rooms.go", "|| len(r.of) == 0 {", "|| true {"), "state", "TestFullDisk_WaitEndsWithItsContext"},
		{mutation.In("does not adopt what still runs", "internal/app/adopt.go", "if len(snapshot.Unknown()) == 0 {", "if true {"), "internal/testkit/e2e", "TestApply_KilledAtEachCall/made_and_changed"},
	}
}

// TestMutants_AreSeen puts faults into the tool, one after the other, and
// wants the tests to see each.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutants() {
		tests := mutation.Tests{Package: m.pkg, Run: "^" + strings.ReplaceAll(m.test, "/", "$/^") + "$", Sign: "_test.go:"}
		t.Run(m.Name, func(t *testing.T) { tests.See(t, m.Fault) })
	}
}
