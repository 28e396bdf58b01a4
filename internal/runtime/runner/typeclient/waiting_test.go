package typeclient

import (
	"context"
	"fmt"
	"io"
	"testing"

	"deployster/internal/runtime/runner"
)

// Why a step in a cluster has not begun is reported with its place; a step on a machine waits for nothing.
func TestWaiting_IsReportedInClusters(t *testing.T) {
	t.Parallel()
	for _, cluster := range []*runner.Cluster{nil, {Namespace: "deployster"}} {
		var heard []string
		program := func(_ context.Context, s runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
			if (s.Waiting != nil) != (cluster != nil) {
				t.Errorf("in %+v the step waits: %t", cluster, s.Waiting != nil)
			}
			if s.Waiting != nil {
				s.Waiting("no\x1b[0m room")
				s.Waiting("")
			}
			_, _ = io.WriteString(stdout, minimal)
			return 0
		}
		c, _ := client(program, func(o *Options) {
			o.InitOn = func(_ context.Context, t Target) (*runner.Host, error) { return t.Settings.Host, nil }
			o.Waiting = func(w Waiting) {
				heard = append(heard, fmt.Sprintf("%s %s %s %q %t", w.Address, w.Host, w.Step, w.Reason, w.Since.IsZero()))
			}
		})
		on := target()
		on.Settings.Host = &runner.Host{Name: "jobs", Kubernetes: cluster}
		if _, err := c.Init(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		want := "[]"
		if cluster != nil {
			want = fmt.Sprintf(`[%s jobs init "no\\x1b[0m room" false %[1]s jobs init "" false]`, on.Address)
		}
		if got := fmt.Sprint(heard); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
