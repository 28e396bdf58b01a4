package router

import (
	"strings"
	"testing"

	"deployster/internal/runtime/remote"
	"deployster/protocol"
)

// What is done under two names of one machine would have no order.
func TestSameMachine_RefusesTwoNamesOfOneMachine(t *testing.T) {
	t.Parallel()
	pin := func(machine, why string) Pin {
		return Pin{Address: "at", Machine: machine, Unreachable: why}
	}
	if err := SameMachine(map[string]Pin{"a": pin("m1", ""), "b": pin("m2", ""), "c": pin("", "down"), "d": pin("", "down")}); err != nil {
		t.Errorf("four machines: %v", err)
	}
	here := pin("uid", "")
	here.Facts = &protocol.HostFacts{OS: remote.ClusterOS}
	if err := SameMachine(map[string]Pin{"a": here, "b": here}); err != nil {
		t.Errorf("one namespace: %v", err)
	}
	err := SameMachine(map[string]Pin{"a": pin("m1", ""), "b": pin("m2", ""), "c": pin("m1", "")})
	if err == nil || !strings.Contains(err.Error(), "a (") || !strings.Contains(err.Error(), "c (") {
		t.Fatalf("two of one: %v", err)
	}
	for _, advice := range []string{"declare it once", "remove that file on the clone"} { // which of both it is cannot be known
		if !strings.Contains(err.Error(), advice) {
			t.Errorf("it does not say %q: %v", advice, err)
		}
	}
}
