package kindtest

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"deployster/protocol"
)

// Shell runs a script, and returns its output without the space around it.
func Shell(t testing.TB, script string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Names returns the names of the actions of an answer.
func Names(a protocol.StateAnswer) string {
	var list []string
	for _, one := range a.Actions {
		list = append(list, one.Name)
	}
	return strings.Join(list, " ")
}

// Valid wants a config to be what exists.
func (r *Resource) Valid(c Config) {
	r.T.Helper()
	if a := r.State(c); a.Status != protocol.Valid {
		text, err := json.Marshal(a)
		r.T.Errorf("%v is %s (%v)", c, text, err)
	}
}
