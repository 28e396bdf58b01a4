package runnertest

import "testing"

func TestFake_KeepsTheContract(t *testing.T) {
	f := NewFake()
	f.Add(ProbeReference, Probe)
	f.AddFiles(ProbeReference, "/probe", "/other")
	Suite(t, f)
	VolumeSuite(t, f)
}
