package containerd

import (
	"testing"

	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
)

func packProbe(t testing.TB, r *Runtime) string {
	t.Helper()
	return pack(t, r, imagestore.PackOptions{
		Reference: runnertest.ProbeReference, Entrypoint: runnertest.ProbeEntrypoint(), Cmd: runnertest.ProbeCmd(),
	}, map[string]string{"probe": runnertest.ProbeScript, "other": runnertest.ProbeScript})
}

func TestEmbedded_KeepsTheContract(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	packProbe(t, r)
	t.Run("suite", func(t *testing.T) { runnertest.Suite(t, r) })
	t.Run("volumes", func(t *testing.T) { runnertest.VolumeSuite(t, r) })
	nothingLeft(t, r)
}
