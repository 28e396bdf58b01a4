package apt

import (
	"cmp"
	"embed"
	"slices"
	"testing"
)

//go:embed testdata/apt-3/*.txt
var apt3 embed.FS // the tests run in a machine too, which has no files of this one

// printed returns what apt-get 3.0.4 of Debian 13 has printed, with -V --print-uris and with -s, as it is and in columns: that
// is how it prints where a machine sets APT::Output-Version to 30.
func printed(t *testing.T, name string) string {
	t.Helper()
	text, err := apt3.ReadFile("testdata/apt-3/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The summary of apt 3 is read as that of apt 2. One in columns is not, and then what the simulation has is the same.
func TestParseSummary_OfApt3(t *testing.T) {
	t.Parallel()
	want, err := parseTransaction(printed(t, "simulation"))
	columns, failed := parseTransaction(printed(t, "simulation-columns"))
	if err != nil || failed != nil || len(want) != 5 || !slices.Equal(columns, want) {
		t.Fatalf("the simulations have %v %v and %v %v", want, err, columns, failed)
	}
	got, ok := parseSummary(printed(t, "summary"))
	byName := func(a, b step) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(got, byName)
	if slices.SortFunc(want, byName); !ok || !slices.Equal(got, want) {
		t.Errorf("the summary has %v %v, and the simulation %v", ok, got, want)
	}
	for _, name := range []string{"summary-columns", "removal", "removal-columns", "refusal", "refusal-columns"} {
		if got, ok := parseSummary(printed(t, name)); ok {
			t.Errorf("%s has everything: %v", name, got)
		}
	}
}

// What apt 3 has against a transaction is the same in both ways of printing, with what its solver adds.
func TestRefusal_OfApt3(t *testing.T) {
	t.Parallel()
	const want = "impossible : Depends: needed0 (>= 9) but it is not going to be installed; Depends: absent-one but it is not installable; " +
		"Unable to correct problems, you have held broken packages.; The following information from --solver 3.0 may provide additional " +
		"context: Unable to satisfy dependencies. Reached two conflicting decisions: 1. impossible:amd64=1.0 is selected for install " +
		"2. impossible:amd64 Depends needed0 (>= 9) but none of the choices are installable: [no choices]"
	for _, name := range []string{"refusal", "refusal-columns"} {
		if got := refusal(printed(t, name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
