package order

import (
	"deployster/internal/base/graph"
	"deployster/internal/runner"
	"deployster/protocol"
)

// The kinds of work that have limits of their own.
const (
	containerWork = iota // every invocation starts a container
	workerWork           // workers take many at one time
)

// Hosts is how many hosts are worked on at one time, where nobody says.
const Hosts = 64

// InWorker reports whether who asks for the state of resources of this type, and
// carries out their actions, is a worker.
func InWorker(ty *protocol.Type, s *runner.Settings) bool {
	return ty.Worker != nil && ty.StateAction.Entrypoint == "" && s.Workers != runner.NoWorkers
}

// Room says how much is worked on at one time. This machine has as much as each host.
type Room struct {
	Resources int // that start containers
	InWorkers int // that workers do; 0 = Resources are both
	Hosts     int // 0 = the constant
}

// Where says where a node is worked on.
type Where struct {
	Host     string // "" = here
	InWorker bool
	Nowhere  bool // it is only waited for, and a failure stops nothing there
}

// At says where a resource of a type is worked on; a nil type has no worker.
func At(ty *protocol.Type, s *runner.Settings) Where {
	w := Where{InWorker: ty != nil && InWorker(ty, s)}
	if s.Host != nil {
		w.Host = s.Host.Name
	}
	return w
}

// Limits says what of a frontier may start now.
func Limits(f *graph.Frontier, room Room, at func(node string) Where) *graph.Limits {
	most := []int{max(1, room.Resources), room.InWorkers}
	hosts := room.Hosts
	if hosts == 0 {
		hosts = Hosts
	}
	return graph.NewLanes(f, func(node string) graph.Lane {
		w := at(node)
		lane := graph.Lane{Place: "host " + w.Host, Host: w.Host != "", Kind: containerWork}
		switch {
		case w.Nowhere:
			lane.Place = ""
		case w.Host == "":
			lane.Place = "here"
		}
		if w.InWorker && room.InWorkers > 0 {
			lane.Kind = workerWork
		}
		return lane
	}, hosts, most...)
}
