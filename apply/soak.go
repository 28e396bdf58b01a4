package apply

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"deployster/apply/report"
	"deployster/apply/rollout"
	"deployster/apply/turns"
	"deployster/internal/base/graph"
	"deployster/plan/order"
	"deployster/protocol"
)

// newRollout begins the first wave of hosts, and returns what is done between the waves.
func (r *run) newRollout(limits *graph.Limits) *rollout.Rollout {
	w := rollout.New(r.options.Waves, rollout.Apply{Hosts: r.stops.hosts, Checks: r.checkResults,
		Query: func(ctx context.Context, number int, hosts []string) []report.Ended {
			return r.queryWave(ctx, limits, number, hosts)
		},
		Soaking: func(number int, hosts []string, soak time.Duration) {
			r.options.event(WaveSoaking{Number: number, Hosts: hosts, Soak: soak})
		},
		Stopping: func() { r.options.event(Stopping{Interrupted: true}) },
		Ended: func(number int, wave report.Wave, closed bool) {
			r.options.event(WaveEnded{Number: number, Wave: wave, Closed: closed})
		}})
	w.Begin(limits)
	return w
}

// queryWave queries the resources of the wave's hosts again. The host of one that is not VALID has failed.
func (r *run) queryWave(ctx context.Context, limits *graph.Limits, number int, hosts []string) (ended []report.Ended) {
	nodes, p := graph.Graph{}, r.plan
	for addr, step := range p.Resources {
		_, reached := r.facts.Reached(addr)
		if reached && step.Intent() == protocol.Present && slices.Contains(hosts, turns.HostName(step)) {
			nodes[addr] = nil
		}
	}
	var mu sync.Mutex
	var failed []*outcome
	where := func(addr string) order.Location { return turns.Where(p, addr) }
	order.Visit(ctx, nodes, room(r.options), where, func(addr string) bool {
		out := &outcome{Ended: report.Ended{Addr: addr, Node: addr}}
		if r.steps.soaked(out, number); out.Failed() && out.Report.Status != Interrupted {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, out)
		}
		return true
	})
	slices.SortFunc(failed, func(a, b *outcome) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, out := range failed {
		r.stops.fail(out)
		r.stops.after(out, limits)
		ended = append(ended, out.Ended)
		r.options.event(ResourceEnded{Address: out.Addr, Change: p.Resources[out.Addr].Shown(), Report: out.Report})
	}
	return ended
}
