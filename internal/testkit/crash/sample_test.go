//go:build linux && amd64

package crash_test

import "os"

// sample says how often something is tried: a few times with every change, and
// as often as it takes in `make crash`.
func sample(few, all int) int {
	if os.Getenv("DEPLOYSTER_CRASH") == "all" {
		return all
	}
	return few
}
