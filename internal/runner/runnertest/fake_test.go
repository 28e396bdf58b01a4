package runnertest

import "testing"

func TestFake_KeepsTheContract(t *testing.T) {
	f := NewFake()
	f.Add(ProbeReference, Probe)
	Suite(t, f)
}
