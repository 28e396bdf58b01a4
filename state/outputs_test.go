package state

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/encryption"
	"deployster/internal/base/sharedlog"
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

// readable is a store of which a reader may list and get nothing but what is published.
type readable struct{ sharedlog.Store }

func (r readable) List(ctx context.Context, prefix string) ([]string, error) {
	if !strings.HasPrefix(prefix, "outputs/") {
		return nil, sharedlog.ErrDenied
	}
	return r.Store.List(ctx, prefix)
}

func (r readable) Get(ctx context.Context, key string) ([]byte, error) {
	if !strings.HasPrefix(key, "outputs/") {
		return nil, sharedlog.ErrDenied
	}
	return r.Store.Get(ctx, key)
}

// In a store a reader needs rights on outputs/ alone. What was encrypted with other keys is replaced, and a state that begins again with
// a lower serial publishes that.
func TestOutputs_InAStore(t *testing.T) {
	t.Parallel()
	root := inDir().empty(t)
	at := func(wrap func(sharedlog.Store) sharedlog.Store) *Remote {
		return &Remote{URL: "dir:///shop", Connect: func() (*sharedlog.Log, error) {
			return sharedlog.New(wrap(root()), sharedlog.Timing{Gone: time.Second, Patience: time.Second, Call: time.Second, Poll: time.Millisecond}), nil
		}}
	}
	whole := func(s sharedlog.Store) sharedlog.Store { return s }
	open := func(keys *encryption.Keyring) *Store {
		s, err := Open(t.Context(), at(whole), Options{Command: "test", Keys: keys})
		ok(t, err)
		return s
	}
	read := func(keys *encryption.Keyring) (uint64, error) {
		d, err := LoadOutputs(at(func(s sharedlog.Store) sharedlog.Store { return readable{s} }), keys)
		return d.Serial, err
	}
	s := open(nil)
	s.Publishes(&Exports{}, nil)
	j := mustBegin(t, s, NewID())
	ok(t, j.Outputs(map[string]Output{"v": {Value: json.RawMessage(`1`), Export: true}}), j.Finish(StatusOK), s.Close())
	if serial, err := read(nil); serial != 1 || err != nil {
		t.Fatal(serial, err)
	}
	word := encryption.New(encryption.Encrypt, func() (encryption.Keys, error) { return encryption.Keys{Passphrases: []string{"long enough"}}, nil })
	s = open(word)
	_, _, err := s.Reencrypt()
	ok(t, err, s.Close())
	if serial, err := read(nil); err == nil {
		t.Errorf("after reencrypt serial %d is in clear text", serial)
	}
	if serial, err := read(word); serial != 1 || err != nil {
		t.Errorf("after reencrypt: %d, %v", serial, err)
	}
	ok(t, root().Create(t.Context(), "outputs/0000000000000007", []byte("of a state that was lost")))
	s = open(word)
	ok(t, s.Replace(s.Snapshot()), s.Close())
	if serial, err := read(word); serial != 2 || err != nil {
		t.Errorf("beside what was lost: %d, %v", serial, err)
	}
	if keys, err := root().List(t.Context(), "outputs/"); len(keys) != 1 || err != nil {
		t.Errorf("it leaves %v, %v", keys, err)
	}
}
