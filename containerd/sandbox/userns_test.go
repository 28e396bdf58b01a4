package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestChooseIDs_AvoidsTheRangesOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, subuid, subgid string
		uid, gid             [2]uint32 // from, to
		fails                string
	}{
		{name: "no files", uid: [2]uint32{firstFreeID, lastFreeID}, gid: [2]uint32{firstFreeID, lastFreeID}},
		{name: "other users", subuid: "alice:100000:65536\n", subgid: "alice:100000:65536\n", uid: [2]uint32{firstFreeID, lastFreeID}, gid: [2]uint32{firstFreeID, lastFreeID}},
		{name: "containers", subuid: "# x\nalice:1:1\ncontainers:200000:131072\n", subgid: "containers:300000:65536\n", uid: [2]uint32{200000, 265536}, gid: [2]uint32{300000, 300000}},
		{name: "deployster before containers", subuid: "containers:200000:65536\ndeployster:400000:65536\n", subgid: "containers:300000:65536\ndeployster:500000:65536\n", uid: [2]uint32{400000, 400000}, gid: [2]uint32{500000, 500000}},
		{name: "too few", subuid: "deployster:400000:1000\n", subgid: "deployster:500000:65536\n", fails: "too few"},
		{name: "no groups", subuid: "deployster:400000:65536\n", fails: "too few"},
		{name: "all taken", subuid: "x:1879048192:268435456\n", fails: "no ids left"},
		{name: "garbage", subuid: "deployster:-5:x\n::\ndeployster:4294967295:65536\n", uid: [2]uint32{firstFreeID, lastFreeID}, gid: [2]uint32{firstFreeID, lastFreeID}},
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"subuid": c.subuid, "subgid": c.subgid} {
			if text != "" {
				if err := os.WriteFile(filepath.Join(root, "etc", name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		ids, err := chooseIDs(root, "/run/deployster/abc")
		if c.fails != "" {
			if !isDiagnostic(err) || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %v, %v", c.name, ids, err)
			}
			continue
		}
		if err != nil || ids.UID < c.uid[0] || ids.UID > c.uid[1] || ids.GID < c.gid[0] || ids.GID > c.gid[1] {
			t.Errorf("%s: got %+v, %v", c.name, ids, err)
		}
	}
	one, err1 := chooseIDs(t.TempDir(), "one")
	same, err2 := chooseIDs(t.TempDir(), "one")
	two, err3 := chooseIDs(t.TempDir(), "two")
	if err := errors.Join(err1, err2, err3); err != nil || *one != *same || *one == *two {
		t.Errorf("%v, again %v, another directory %v, %v", one, same, two, err)
	}
}

// TestMapOwner_OnlyTheOwnerIsRootOnDisk checks every pair of small ids: the owner is the user, nobody is
// mapped twice, and nobody but the owner can become root on the disk.
func TestMapOwner_OnlyTheOwnerIsRootOnDisk(t *testing.T) {
	t.Parallel()
	ids := []uint32{0, 1, 2, 1000, idCount - 2, idCount - 1, idCount, 1 << 30}
	for _, owner := range ids {
		for _, user := range ids[:6] {
			const base = 1 << 30
			maps := mapOwner(owner, user, base)
			inside, outside := map[uint32]bool{}, map[uint32]bool{}
			for _, m := range maps {
				for i := range m.Size {
					disk, seen := m.ContainerID+i, m.HostID+i-base
					if inside[seen] || outside[disk] {
						t.Fatalf("owner %d, user %d: %d or %d twice in %v", owner, user, disk, seen, maps)
					}
					if inside[seen], outside[disk] = true, true; seen >= idCount || disk == 0 && owner != 0 || disk != owner && disk != seen {
						t.Fatalf("owner %d, user %d: %d is shown as %d", owner, user, disk, seen)
					}
				}
			}
			if !inside[user] || len(inside) < idCount-2 {
				t.Errorf("owner %d, user %d: %d ids in %v", owner, user, len(inside), maps)
			}
		}
	}
}

func TestCanRemap_RequiresIDMappedMounts(t *testing.T) {
	t.Parallel()
	if err := canRemap([]string{"only-remap-ids", "remap-ids"}, "overlayfs"); err != nil {
		t.Error(err)
	}
	if err := canRemap([]string{"only-remap-ids"}, "native"); !isDiagnostic(err) || !strings.Contains(err.Error(), "5.19") {
		t.Errorf("got %v", err)
	}
}
