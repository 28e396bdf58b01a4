package state

import (
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/sharedlog"
)

// newestEntry returns the key of the entry with the highest number, among sorted keys of a log.
func newestEntry(keys []string) (newest string) {
	for _, key := range keys {
		if strings.HasPrefix(key, "log/0") {
			newest = key
		}
	}
	return newest
}

// change replaces an object; nil = it is lost.
func change(t *testing.T, store sharedlog.Store, key string, by func(data []byte) []byte) {
	t.Helper()
	data, err := store.Get(t.Context(), key)
	ok(t, err, store.Delete(t.Context(), key))
	if data = by(slices.Clone(data)); data != nil {
		ok(t, store.Create(t.Context(), key, data))
	}
}

func lost([]byte) []byte            { return nil }
func cut(data []byte) []byte        { return data[:len(data)/2] }
func bitFlipped(data []byte) []byte { data[len(data)/2] ^= 4; return data }

// Damage of the newest objects is noticed, and names the way out; that keeps the open actions which can be read.
func remoteNoticesDamage(t *testing.T, kind storeKind) {
	newest := func(prefix string) func(keys []string) string {
		return func(keys []string) (key string) {
			for _, k := range keys {
				if strings.HasPrefix(k, prefix) {
					key = k
				}
			}
			return key
		}
	}
	for name, c := range map[string]struct {
		killed bool // the last run was killed in an action
		object func(keys []string) string
		by     func([]byte) []byte
	}{
		"the newest entry is lost":              {false, newest("log/0"), lost},
		"a bit of the newest entry":             {false, newest("log/0"), bitFlipped},
		"a bit of the newest entry of a run":    {true, newest("log/0"), bitFlipped},
		"the newest entry of a run is cut":      {true, newest("log/0"), cut},
		"the object of the state is cut":        {false, newest("state/"), cut},
		"the object of the state is cut, a run": {true, newest("state/"), cut},
		"the object of the state is lost":       {false, newest("state/"), lost},
	} {
		for way, repair := range map[string]func(a *machine) error{
			"restore": func(a *machine) error {
				_, err := Restore(t.Context(), a.place(), 1, waits)
				return err
			},
			"push -force": func(a *machine) error {
				s, err := Open(t.Context(), a.place(), Options{Salvage: true, Wait: waits.Wait})
				if err != nil {
					return err
				}
				defer func() { ok(t, s.Close()) }()
				return s.Replace(Snapshot{Resources: map[string]Entry{"x": entry(`{}`)}}.Clone().KeepOpen(s.Snapshot()))
			},
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				a, b := two(t, kind)
				for range 2 {
					s := a.open(t, Options{})
					j := mustBegin(t, s, NewID())
					ok(t, j.Valid("x", entry(`{}`)), j.Finish(StatusOK), s.Close())
				}
				if c.killed {
					s := a.open(t, Options{})
					j := mustBegin(t, s, "p")
					ok(t, j.ActionStarted(Start{Address: "y", Action: "make", Key: "ky", Incomplete: &Entry{Type: "thing", Config: []byte(`{}`)}}))
					ok(t, j.ActionStarted(Start{Address: "z", Action: "make", Key: "kz"}), j.ActionEnded("z", "make", End{}))
					die(t, a, s)
				}
				store := a.root()
				all := func() []string {
					entries, err := store.List(t.Context(), "log/")
					objects, err2 := store.List(t.Context(), "state/")
					ok(t, err, err2)
					return slices.Concat(entries, objects)
				}
				before := newestEntry(all())
				change(t, store, c.object(all()), c.by)
				_, _, read := Load(b.place())
				refused(t, read, ErrDamaged)
				if !strings.Contains(read.Error(), "state restore SERIAL") || strings.Contains(read.Error(), "gone") && c.by != nil && strings.Contains(name, "cut") {
					t.Errorf("it is reported as %v", read)
				}
				list, err := Copies(b.place())
				if err != nil || !slices.ContainsFunc(list, func(c Copy) bool { return c.Serial == 1 && c.Err == nil }) {
					t.Errorf("the copies are %+v: %v", list, err)
				}
				ok(t, repair(a))
				got, _, err := Load(b.place())
				ok(t, err)
				if _, has := got.Resources["x"]; !has || got.Serial < 3 {
					t.Errorf("repaired it is %+v", got)
				}
				if open := got.Unknown(); c.killed && !slices.Contains(open, "y") || !c.killed && len(open) > 0 {
					t.Errorf("open are %q", open)
				}
				if _, has := got.Resources["y"]; has != c.killed {
					t.Errorf("the entry of what was begun is there: %v", has)
				}
				if now := newestEntry(all()); now <= before {
					t.Errorf("the newest entry is %s, and was %s", now, before)
				}
				ok(t, a.open(t, waits).Close())
			})
		}
	}
}
