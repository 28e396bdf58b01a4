package state

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// What a run reads is recorded with its first fact, so that it counts also if the run dies; and it never goes back.
func TestReads_NeverGoBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	run := func(serial uint64, lineage string, dies bool) Read {
		s := mustOpen(t, path)
		s.Publishes(nil, map[string]Read{"net": {Lineage: lineage, Serial: serial}})
		j := mustBegin(t, s, NewID())
		if !dies {
			ok(t, j.Finish(StatusOK))
		}
		ok(t, s.Close())
		s = mustOpen(t, path)
		defer func() { ok(t, s.Close()) }()
		return s.Snapshot().Read["net"]
	}
	for i, c := range []struct {
		serial  uint64
		lineage string
		dies    bool
		want    uint64
	}{{3, "l", false, 3}, {5, "l", true, 5}, {4, "l", false, 5}, {1, "m", false, 1}} {
		if got := run(c.serial, c.lineage, c.dies); got.Serial != c.want || got.Lineage != c.lineage {
			t.Errorf("run %d: %+v", i, got)
		}
	}
}

// A run that dies has declared before for whom its outputs are encrypted: whoever merges its journal does not publish them in clear
// text. The file that is published keeps the permissions that somebody gave it.
func TestOutputs_OfADiedRunAreEncrypted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	s.Publishes(&Exports{Recipients: []string{"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"}}, nil)
	j := mustBegin(t, s, NewID())
	ok(t, j.Outputs(map[string]Output{"v": {Value: json.RawMessage(`"hunter2"`), Export: true}}), s.Close())
	s = mustOpen(t, path)
	data, err := os.ReadFile(path + ".outputs")
	if err != nil || len(s.Warnings()) > 0 || len(s.Snapshot().Outputs) != 1 || string(data) == "" {
		t.Fatalf("%v, %v, %v", err, s.Warnings(), s.Snapshot().Outputs)
	}
	if _, err := LoadOutputs(File(path), nil); err == nil {
		t.Errorf("it is in clear text: %s", data)
	}
	ok(t, os.Chmod(path+".outputs", 0o644), s.Replace(s.Snapshot()), s.Close())
	if info, err := os.Stat(path + ".outputs"); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}
