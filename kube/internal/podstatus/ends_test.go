package podstatus

import (
	"testing"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/runner"
)

// What statuses prove that the kubelet of a real node has reported of an action that had begun.
func TestEndOf_RealStatuses(t *testing.T) {
	status := func(phase core.PodPhase, containers ...core.ContainerState) *core.Pod {
		p := &core.Pod{Spec: core.PodSpec{NodeName: "node-7"}, Status: core.PodStatus{Phase: phase}}
		for _, state := range containers {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, core.ContainerStatus{Name: "type", State: state})
		}
		return p
	}
	waiting := core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: "PodInitializing"}}
	ended := func(message string) core.ContainerState {
		return core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: 137, Reason: "Error", Message: message}}
	}
	unplaced := status(core.PodFailed)
	unplaced.Spec.NodeName = ""
	for name, c := range map[string]struct {
		pod         *core.Pod
		begun, over bool
		fate        runner.Fate // "" = that is not known
	}{
		"it starts":                      {status(core.PodPending, waiting), false, false, ""},
		"it runs":                        {status(core.PodRunning, core.ContainerState{Running: &core.ContainerStateRunning{}}), true, false, ""},
		"the kubelet starts again":       {status(core.PodRunning), true, false, ""},
		"its container has ended":        {status(core.PodRunning, ended("one begun\n")), true, true, runner.Unknown},
		"it is evicted":                  {status(core.PodFailed, ended("one begun\n")), true, true, runner.Unknown},
		"it is evicted for its own disk": {status(core.PodFailed, waiting), false, true, runner.Unknown},
		"it is rejected":                 {status(core.PodFailed), false, true, runner.Unknown},
		"nothing was begun in it":        {status(core.PodFailed, ended("")), true, true, runner.NotBegun},
		"the action has ended before":    {status(core.PodFailed, ended("one begun\none exit 3\n")), true, true, runner.Exited},
		"it never had a node":            {unplaced, false, true, runner.NotBegun},
	} {
		e := EndOf(c.pod)
		out, known := e.Fate("one")
		if e.Begun != c.begun || e.Over != c.over || known != (c.fate != "") || out.Fate != c.fate {
			t.Errorf("%s: %+v, %+v", name, e, out)
		}
	}
}
