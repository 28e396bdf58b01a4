package pod

import (
	"testing"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner/runnertest"
)

func TestAgent_KeepsTheContractOfRunners(t *testing.T) {
	t.Run("suite", func(t *testing.T) { runnertest.Suite(t, &kubelet{t: t, pods: map[string]*remote.Client{}}) })
}
