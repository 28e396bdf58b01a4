package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"deployster/internal/app/watch"
	"deployster/plan/drift"
)

// Metrics has the metrics of one watch. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	health   health

	resources, processes                     *prometheus.GaugeVec
	converged                                prometheus.Gauge
	looks, events, repairs, missed, restarts *prometheus.CounterVec
	look, repair, late                       prometheus.Histogram
	lockWait, reloadFailures                 prometheus.Counter
}

// New returns metrics with all counts zero.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewPedanticRegistry()}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return keep(m, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels))
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return keep(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels))
	}
	counter := func(name, help string) prometheus.Counter {
		return keep(m, prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help}))
	}
	histogram := func(name, help string, from float64) prometheus.Histogram {
		return keep(m, prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + name, Help: help,
			Buckets: prometheus.ExponentialBuckets(from, 2.5, 12)}))
	}
	m.resources = gauges("resources", "Watched resources, by the result of the last check.", "status")
	m.processes = gauges("processes", "Resources whose types report changes, by whether a process watches them now.", "status")
	m.converged = keep(m, prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "converged",
		Help: "1 if nothing to do but periodic checks."}))
	m.looks = counters("looks_total", "Checks of resources, by reason and result.", "why", "result")
	m.events = counters("events_total", "Events that processes reported.", "type")
	m.repairs = counters("repairs_total", "Repairs, each of one resource or several, by outcome.", "status")
	m.missed = counters("missed_total", "Drift that a poll found though a process watches the resource.", "type")
	m.restarts = counters("process_restarts_total", "Ends of watch processes; they are restarted.", "type")
	m.look = histogram("look_seconds", "Duration of checks.", 0.0005)
	m.repair = histogram("repair_seconds", "From the first event or check that found drift until the resource was valid again.", 0.005)
	m.late = histogram("poll_late_seconds", "Delay of polls.", 0.001)
	m.lockWait = counter("lock_wait_seconds_total", "Time that repairs waited because another command had the state.")
	m.reloadFailures = counter("reload_failures_total", "Failed reloads: the previous configuration is still watched.")
	keep(m, collectors.NewGoCollector())
	keep(m, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.Counted(watch.Counts{})
	return m
}

const prefix = "deployster_watch_"

// keep registers a metric.
func keep[C prometheus.Collector](m *Metrics, c C) C {
	m.registry.MustRegister(c)
	return c
}

// Counted sets the numbers of resources in each condition.
func (m *Metrics) Counted(c watch.Counts) {
	for status, n := range map[drift.Status]int{drift.None: c.Resources - c.Drifted - c.Failed, drift.Drifted: c.Drifted - c.Gone,
		drift.Gone: c.Gone, drift.Failed: c.Failed} {
		m.resources.WithLabelValues(string(status)).Set(float64(n))
	}
	m.processes.WithLabelValues("running").Set(float64(c.ByEvents))
	m.processes.WithLabelValues("ended").Set(float64(max(0, c.Watched-c.ByEvents)))
	m.converged.Set(0)
	if c.Open == 0 {
		m.converged.Set(1)
	}
}

// Told counts an event. typeOf returns the type of a resource.
func (m *Metrics) Told(t watch.Event, typeOf func(addr string) string) {
	switch t := t.(type) {
	case watch.Looked:
		m.looks.WithLabelValues(string(t.Why), string(t.Status)).Inc()
		m.look.Observe(t.Took.Seconds())
		if t.Why == watch.Poll {
			m.late.Observe(t.Late.Seconds())
		}
	case watch.Righted:
		m.repair.Observe(t.Took.Seconds())
	case watch.Missed:
		m.missed.WithLabelValues(typeOf(t.Address)).Inc()
	case watch.Process:
		if !t.Running {
			m.restarts.WithLabelValues(typeOf(t.Address)).Inc()
		}
	case watch.Loaded:
		m.health.beat()
		m.health.loaded.Store(true)
	}
}

// Event counts an event of a type.
func (m *Metrics) Event(typeName string) { m.events.WithLabelValues(typeName).Inc() }

// Repaired counts a repair.
func (m *Metrics) Repaired(status string) { m.repairs.WithLabelValues(status).Inc() }

// Waited adds a time in which another command held the state.
func (m *Metrics) Waited(d time.Duration) { m.lockWait.Add(d.Seconds()) }

// ReloadFailed counts a reload that failed.
func (m *Metrics) ReloadFailed() { m.reloadFailures.Inc() }

// Alive records that the watch works.
func (m *Metrics) Alive() { m.health.beat() }
