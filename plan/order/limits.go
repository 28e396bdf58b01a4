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

// InWorker reports whether who asks for the state of resources of this type, and
// carries out their actions, is a worker.
func InWorker(ty *protocol.Type, s *runner.Settings) bool {
	return ty.Worker != nil && ty.StateAction.Entrypoint == "" && s.Workers != runner.NoWorkers
}

// Limits says what of a frontier may start now: parallelism at one time of what
// starts containers, and so many of what is done in workers, where inWorkers is
// not 0; else both together have one limit.
func Limits(f *graph.Frontier, parallelism, inWorkers int, inWorker func(node string) bool) *graph.Limits {
	parallelism = max(1, parallelism)
	if inWorkers == 0 {
		return graph.NewLimits(f, func(string) int { return containerWork }, parallelism)
	}
	return graph.NewLimits(f, func(node string) int {
		if inWorker(node) {
			return workerWork
		}
		return containerWork
	}, parallelism, inWorkers)
}
