package main

import "testing"

// The environment says on how many resources a process works; what is no number is refused.
func TestParallelism_AcceptsPositiveNumbersOnly(t *testing.T) {
	for text, want := range map[string]int{"": 0, "1": 1, "40": 40, "0": -1, "-3": -1, "x": -1, "1.5": -1} {
		n, err := parallelism(func(name string) string { return map[string]string{"DEPLOYSTER_TF_PARALLELISM": text}[name] })
		if err != nil {
			n = -1
		}
		if n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, err, want)
		}
	}
}
