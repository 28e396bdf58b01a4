package announce

import (
	"fmt"
	"testing"

	"deployster/plan"
)

// To explain a block is to explain all that is in it.
func TestExpandAddresses_ABlockIsAllThatIsInIt(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Resources: map[string]*plan.Step{"n[10]": {}, "n[2]": {}, "one": {}}}
	if got, want := fmt.Sprint(expandAddresses(p, []string{"n", "one", "nope"})), "[[n[2] n[10]] [one] [nope]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
