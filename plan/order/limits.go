package order

import (
	"deployster/internal/base/graph"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// The kinds of work that have limits of their own.
const (
	containerWork = iota // every invocation starts a container
	workerWork           // workers take many at a time
	podWork              // every invocation starts a Pod
)

// Hosts is how many hosts are worked on at a time by default.
const Hosts = 64

// InPods is how many resources of a cluster are queried at a time by default: as many as a command may have Pods by default.
const InPods = 20

// InWorker reports whether a worker answers the state queries of resources of this type,
// and runs their actions.
func InWorker(ty *protocol.Type, s *runner.Settings) bool {
	return ty.Worker != nil && ty.StateAction.Entrypoint == "" && s.Workers != runner.NoWorkers
}

// Capacity reports how much is worked on at a time, on this machine and on each host.
type Capacity struct {
	Resources int // resources that start containers
	InWorkers int // resources that workers do; 0 = Resources limits all, also those that start Pods
	InPods    int // resources that start Pods; 0 = Resources limits them
	Hosts     int // hosts at a time; 0 = the constant
}

// Location reports where the work of a node is done.
type Location struct {
	Host     string // "" = this machine
	Group    string // of the host, where hosts are begun in waves
	InWorker bool
	InPods   bool // in a cluster
	Nowhere  bool // the node is only waited for, and its failure stops nothing else
}

// At returns where the work of a resource is done; a nil type has no worker.
func At(ty *protocol.Type, s *runner.Settings) Location {
	w := Location{InWorker: ty != nil && InWorker(ty, s)}
	if s.Host != nil {
		w.Host, w.InPods = s.Host.Name, s.Host.Kubernetes != nil
	}
	return w
}

// Limits returns what limits which nodes of a frontier may start now.
func Limits(f *graph.Frontier, room Capacity, at func(node string) Location) *graph.Limits {
	most := []int{max(1, room.Resources), room.InWorkers, room.InPods}
	hosts := room.Hosts
	if hosts == 0 {
		hosts = Hosts
	}
	return graph.NewLanes(f, func(node string) graph.Lane {
		w := at(node)
		lane := graph.Lane{Place: "host " + w.Host, Host: w.Host != "", Group: w.Group, Kind: containerWork}
		switch {
		case w.Nowhere:
			lane.Place = ""
		case w.Host == "":
			lane.Place = "here"
		}
		switch {
		case room.InWorkers == 0:
		case w.InWorker:
			lane.Kind = workerWork
		case w.InPods && room.InPods > 0:
			lane.Kind = podWork
		}
		return lane
	}, hosts, most...)
}
