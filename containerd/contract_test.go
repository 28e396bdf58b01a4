package containerd

import (
	"testing"

	"deployster/internal/invoke/invoketest"
)

func packProbe(t testing.TB, r *Runtime) string {
	t.Helper()
	return pack(t, r, PackOptions{
		Reference: invoketest.ProbeReference, Entrypoint: invoketest.ProbeEntrypoint(), Cmd: invoketest.ProbeCmd(),
	}, map[string]string{"probe": invoketest.ProbeScript, "other": invoketest.ProbeScript})
}

func TestEmbeddedKeepsTheContract(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	packProbe(t, r)
	t.Run("suite", func(t *testing.T) { invoketest.Suite(t, r) })
	nothingLeft(t, r)
}
