//go:build machines

package apt

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
)

// What is taken from a summary is what apt simulates, and what apt then does.
func TestSummarized_IsWhatAptSimulates(t *testing.T) {
	fresh(t)
	m := &access.Machine{Root: "/"}
	byName := func(a, b step) int { return cmp.Compare(a.name, b.name) }
	random := rand.New(rand.NewPCG(1, 2))
	known := []string{"hello", "hello=1.0", "hello=1.1", "hello-data", "needs-hello", "rival", "one-greeter", "greeter", "asks", "asks=1.0",
		"choosy", "picky", "first", "second", "many-a", "many-b", "impossible", "nothing-has-this"}
	taken := 0
	for range 40 {
		args := []string{"--allow-downgrades", "install", "--"}
		for range 1 + random.IntN(3) {
			args = append(args, known[random.IntN(len(known))])
		}
		got, ok, err := summarized(t.Context(), m, args...)
		if err != nil {
			t.Fatal(err)
		}
		if before := kindtest.Shell(t, "dpkg-query -W"); ok {
			taken++
			want, err := ordered(t.Context(), m, args...)
			slices.SortFunc(got, byName)
			slices.SortFunc(want, byName)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q: the summary has %v, and the simulation %v %v", args, got, want, err)
			}
			if after := kindtest.Shell(t, "dpkg-query -W"); after != before {
				t.Fatalf("%q: something was installed:\n%s\nand then\n%s", args, before, after)
			}
			_ = aptGet(t.Context(), m, t.Output(), args...) // what fails stays as it was for the next one
		}
	}
	if taken < 10 {
		t.Errorf("only %d summaries had everything", taken)
	}
	if _, ok, err := summarized(t.Context(), m, strings.Fields("install -- many-c")...); !ok || err != nil {
		t.Errorf("a simple installation has no summary: %v", err)
	}
}
