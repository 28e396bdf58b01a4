package runnertest

import "testing"

func TestFakeKeepsTheContract(t *testing.T) {
	f := NewFake()
	f.Add(ProbeReference, Probe)
	Suite(t, f)
}
