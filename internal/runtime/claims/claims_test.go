package claims

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func ask(t *testing.T, dir string, step Step, r Record) []Record {
	t.Helper()
	others, err := Serve(t.Context(), dir, Request{step, r})
	if err != nil {
		t.Fatal(err)
	}
	return others
}

// What a state declares counts until an apply has recorded all that it declares.
func TestServe_KeepsWhatWasDeclaredUntilTheEnd(t *testing.T) {
	t.Parallel()
	dir, a, b := t.TempDir(), ObjectOf("k", "a"), ObjectOf("k", "b")
	ask(t, dir, Begin, Record{Lineage: "one", Objects: []Object{a}})
	ask(t, dir, EndAll, Record{Lineage: "one", Objects: []Object{a}})
	ask(t, dir, Begin, Record{Lineage: "one", Objects: []Object{b}})
	ask(t, dir, End, Record{Lineage: "one", Objects: []Object{b}})
	seen := ask(t, dir, Read, Record{Lineage: "two"})
	if len(seen) != 1 || !seen[0].Has(a) || !seen[0].Has(b) || seen[0].Has(ObjectOf("other", "a")) {
		t.Errorf("%+v", seen)
	}
	ask(t, dir, EndAll, Record{Lineage: "one", Objects: []Object{b}})
	if seen = ask(t, dir, Read, Record{Lineage: "two"}); len(seen) != 1 || seen[0].Has(a) || !seen[0].Has(b) {
		t.Errorf("%+v", seen)
	}
	ask(t, dir, EndAll, Record{Lineage: "one"})
	if seen = ask(t, dir, Read, Record{Lineage: "two"}); len(seen) != 0 {
		t.Errorf("%+v", seen)
	}
}

// Of two states that begin, the second sees the first, and leaves no record.
func TestServe_RefusesTheSecond(t *testing.T) {
	t.Parallel()
	set, o := Set{Name: "jobs", Kind: "k"}, ObjectOf("k", "a")
	for name, c := range map[string]struct{ first, second Record }{
		"sets overlap":               {Record{Sets: []Set{set}}, Record{Sets: []Set{{Name: "more", Kind: "k", Within: Within{Prefix: "a"}}}}},
		"the first declares it":      {Record{Objects: []Object{o}}, Record{Purges: []Object{o}}},
		"the first destroys it":      {Record{Purges: []Object{o}}, Record{Objects: []Object{o}}},
		"they have nothing together": {Record{Sets: []Set{set}, Objects: []Object{o}}, Record{Objects: []Object{o}}},
	} {
		dir := t.TempDir()
		c.first.Lineage, c.second.Lineage = "one", "two"
		ask(t, dir, Begin, c.first)
		others := ask(t, dir, Begin, c.second)
		_, err := os.Stat(Path(dir, "two"))
		refused := c.second.Conflict(others) != nil
		if want := name != "they have nothing together"; refused != want || os.IsNotExist(err) != want {
			t.Errorf("%s: refused %v, %v", name, refused, err)
		}
	}
}

// An end takes back what a state destroys, and records no set that another state has.
func TestServe_EndTakesBackWhatIsDestroyed(t *testing.T) {
	t.Parallel()
	dir, o, set := t.TempDir(), ObjectOf("k", "a"), Set{Name: "jobs", Kind: "k"}
	ask(t, dir, Begin, Record{Lineage: "one", Sets: []Set{set}, Purges: []Object{o}})
	ask(t, dir, End, Record{Lineage: "one", Sets: []Set{set}, Purges: []Object{o}})
	seen := ask(t, dir, End, Record{Lineage: "two", Sets: []Set{set}})
	if len(seen) != 1 || seen[0].Destroys(o) {
		t.Errorf("%+v", seen)
	}
	if _, err := os.Stat(Path(dir, "two")); !os.IsNotExist(err) {
		t.Errorf("a second set is recorded: %v", err)
	}
}

func TestSet_OverlapsUnlessBothAreNarrowedApart(t *testing.T) {
	t.Parallel()
	within := func(config string) Set { return Set{Kind: "k", Within: WithinOf(json.RawMessage(config))} }
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{}`, `{}`, true},
		{`{"directory":"/etc/a"}`, `{}`, true},
		{`{"directory":"/etc/a"}`, `{"directory":"/etc/b"}`, false},
		{`{"directory":"/etc/a"}`, `{"directory":"/etc/ab"}`, false},
		{`{"directory":"/etc/a/"}`, `{"directory":"/etc/a/b"}`, true},
		{`{"directory":"/"}`, `{"directory":"/etc/b"}`, true},
		{`{"prefix":"a"}`, `{"prefix":"ab"}`, true},
		{`{"prefix":"a"}`, `{"prefix":"b"}`, false},
		{`{"prefix":"a","directory":"/x"}`, `{"directory":"/y"}`, false},
		{`{"directory":7}`, `{"directory":"/y"}`, true},
	} {
		a, b := within(c.a), within(c.b)
		if a.Overlaps(b) != c.want || b.Overlaps(a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
	if (Set{Kind: "k"}).Overlaps(Set{Kind: "l"}) {
		t.Error("sets of two kinds overlap")
	}
}

// A record that cannot be read, and a lineage that is a path, are errors: nothing is purged for either.
func TestServe_RefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ask(t, dir, Begin, Record{Lineage: "one", Objects: []Object{"x"}})
	if err := os.WriteFile(Path(dir, "one"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Serve(t.Context(), dir, Request{Read, Record{Lineage: "two"}}); err == nil || !strings.Contains(err.Error(), Path(dir, "one")) {
		t.Errorf("%v", err)
	}
	for _, lineage := range []string{"", "../x", ".lock"} {
		if _, err := Serve(t.Context(), dir, Request{Begin, Record{Lineage: lineage}}); err == nil {
			t.Errorf("the lineage %q is accepted", lineage)
		}
	}
}
