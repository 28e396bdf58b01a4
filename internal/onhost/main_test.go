package onhost

import "testing"

// A person who starts the program by hand changes nothing by mistake.
func TestMain_RefusesOtherArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"serve"}, {"guard"}, {"guard", "one", "two"}, {"prune", "all"}, {"far", "--help"}} {
		if code := Main(args); code != lost {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
}
