package order_test

import (
	"fmt"
	"testing"

	"deployster/internal/base/graph"
	"deployster/internal/runtime/runner"
	"deployster/plan/order"
)

// As many resources of a cluster are queried at a time as there may be Pods, unless somebody says how many. Others are not,
// and an apply does not: it took longer so.
func TestLimits_OfPods(t *testing.T) {
	t.Parallel()
	nodes := graph.Graph{}
	for i := range 30 {
		nodes[fmt.Sprint("r", i)] = nil
	}
	pods := &runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{}}
	for name, c := range map[string]struct {
		room order.Capacity
		host *runner.Host
		want int
	}{
		"queries":                        {order.Capacity{Resources: 10, InWorkers: 80, InPods: order.InPods}, pods, 20},
		"queries, and a number":          {order.Capacity{Resources: 7, InPods: order.InPods}, pods, 7},
		"queries on a host":              {order.Capacity{Resources: 10, InWorkers: 80, InPods: order.InPods}, &runner.Host{Name: "web"}, 10},
		"actions":                        {order.Capacity{Resources: 10, InWorkers: 80}, pods, 10},
		"queries where deployster works": {order.Capacity{Resources: 10, InWorkers: 80, InPods: order.InPods}, nil, 10},
	} {
		taken, l := 0, order.Limits(graph.NewFrontier(nodes), c.room, func(string) order.Location {
			return order.At(nil, &runner.Settings{Host: c.host})
		})
		for _, ok := l.Take(); ok; _, ok = l.Take() {
			taken++
		}
		if taken != c.want {
			t.Errorf("%s: %d at a time, want %d", name, taken, c.want)
		}
	}
}
