package typeclient

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// The title of an error of a cluster names its cause, and its detail has the words of the cluster.
func TestAct_NamesWhyAClusterDidNotStart(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"No Pod could be started on jobs":    &runner.StartError{Fault: runner.NotStarted, Text: "0/3 nodes are available"},
		"An image cannot be pulled on jobs":  &runner.StartError{Fault: runner.NotPulled, Text: "0/3 nodes are available"},
		"The cluster refused a Pod":          &runner.StartError{Fault: runner.PodRefused, Text: "0/3 nodes are available"},
		"The cluster changed the Pod":        &runner.StartError{Fault: runner.PodChanged, Text: "0/3 nodes are available"},
		"This is not possible in a cluster":  &runner.StartError{Fault: runner.NotPossible, Text: "0/3 nodes are available"},
		"This image is only on this machine": &runner.StartError{Fault: runner.NotPushed, Text: "0/3 nodes are available"},
		"An action may still run on jobs":    &runner.UnknownError{Container: "d-1", Err: errors.New("0/3 nodes are available")},
		"The outcome is unknown":             &runner.UnknownError{Container: "d-1", Err: errors.New("0/3 nodes are available"), Over: true},
		"A host cannot be used":              &runner.HostError{Err: errors.New("0/3 nodes are available")},
	} {
		fake := runnertest.NewFake()
		on := target()
		on.Settings.Host = &runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{Namespace: "deployster"}}
		ty := protocol.Type{Protocol: 2, Reference: image, Digest: fake.Add(image, says(""))}
		_, got := New(Options{Runner: &failing{Runner: fake, err: fmt.Errorf("run: %w", err)}}).Act(t.Context(), on, ty, protocol.Action{Name: "make"}, protocol.ActionInput{})
		if d := diagnosed(t, got, "make"); d.Summary != want || !strings.Contains(d.Detail, "0/3 nodes are available. ") {
			t.Errorf("%s: %s\nwant %s", d.Summary, d.Detail, want)
		}
	}
}
